import { openDb } from "#worker/db/client.ts";
import { listUnfinishedDeletions, purgeDeletedSessions } from "#worker/db/deletions.ts";
import { logError } from "#worker/lib/log.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

/** Takes up deletions that nobody is at: their channels were never told, or lost their alarms. */
export const resumeAccountDeletions = async (env: Env, now: number): Promise<void> => {
  const db = openDb(env);
  for (const user of await listUnfinishedDeletions(db)) {
    await getUserChannelStub(env, user)
      .deleteAccount(user)
      .catch((error: unknown) => logError("a deletion waits for the next hour", error));
  }
  await purgeDeletedSessions(db, now);
};
