import { openDb } from "#worker/db/client.ts";
import { forgetDeletedSessions, listDeletions } from "#worker/db/deletions.ts";
import { logError } from "#worker/lib/log.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";

/** Takes up deletions that nobody is at: their channels were never told, or lost their alarms. */
export const resumeDeletions = async (env: Env, now: number): Promise<void> => {
  const db = openDb(env);
  for (const user of await listDeletions(db)) {
    await userChannelOf(env, user)
      .part(user)
      .catch((error: unknown) => logError("a deletion waits for the next hour", error));
  }
  await forgetDeletedSessions(db, now);
};
