import { openDb } from "../db/client";
import { forgetDeletedSessions, listDeletions } from "../db/deletions";
import { logError } from "../lib/log";
import { userChannelOf } from "../objects/stubs";

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
