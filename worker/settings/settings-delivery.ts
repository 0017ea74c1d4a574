import type { Uuid } from "#contract/ids.ts";
import type { VersionedSettings } from "#contract/settings.ts";
import { openDb } from "#worker/db/client.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { findUndeliveredSettings, markSettingsDelivered } from "./queries.ts";

/**
 * The directory is where settings stand; the person's channel has a copy, goes by it and tells the devices. What it was
 * not told it is told before the person's next socket.
 */

/** Throws when the channel does not answer. */
export const deliverSettings = async (env: Env, user: Uuid, kept: VersionedSettings): Promise<void> => {
  await withRetry(() => getUserChannelStub(env, user).updateSettings(user, kept));
  await markSettingsDelivered(openDb(env), user, kept.version);
};

/** Tells a person's channel what it has still to hear of their settings. Throws when it does not answer; then nothing is lost. */
export const pushPendingSettings = async (env: Env, user: Uuid): Promise<void> => {
  const untold = await findUndeliveredSettings(openDb(env), user);
  if (untold) await deliverSettings(env, user, untold);
};
