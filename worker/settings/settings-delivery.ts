import type { Uuid } from "#contract/ids.ts";
import type { KeptSettings } from "#contract/settings.ts";
import { openDb } from "#worker/db/client.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import { confirmTold, findUntold } from "./queries.ts";

/**
 * The directory is where settings stand; the person's channel has a copy, goes by it and tells the devices. What it was
 * not told it is told before the person's next socket.
 */

/** Throws when the channel does not answer. */
export const tellSettings = async (env: Env, user: Uuid, kept: KeptSettings): Promise<void> => {
  await withRetry(() => userChannelOf(env, user).configure(user, kept));
  await confirmTold(openDb(env), user, kept.version);
};

/** Tells a person's channel what it has still to hear of their settings. Throws when it does not answer; then nothing is lost. */
export const flushPendingSettings = async (env: Env, user: Uuid): Promise<void> => {
  const untold = await findUntold(openDb(env), user);
  if (untold) await tellSettings(env, user, untold);
};
