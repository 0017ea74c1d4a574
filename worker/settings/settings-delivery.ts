import type { Uuid } from "#contract/ids.ts";
import type { VersionedSettings } from "#contract/settings/settings.ts";
import { openDb } from "#worker/db/client.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { findUndeliveredSettings, markSettingsDelivered } from "./queries.ts";

/**
 * Delivery of settings from the directory, where they are stored, to the person's UserChannel, which enforces a copy
 * and pushes it to the devices. Undelivered settings are delivered before the next socket opens.
 */

/** Delivers settings. Throws if the channel does not respond. */
export const deliverSettings = async (env: Env, user: Uuid, versioned: VersionedSettings): Promise<void> => {
  await withRetry(() => getUserChannelStub(env, user).updateSettings(versioned));
  await markSettingsDelivered(openDb(env), user, versioned.version);
};

/** Delivers settings that the channel has not confirmed. Throws if it does not respond; nothing is lost then. */
export const pushPendingSettings = async (env: Env, user: Uuid): Promise<void> => {
  const undelivered = await findUndeliveredSettings(openDb(env), user);
  if (undelivered) await deliverSettings(env, user, undelivered);
};
