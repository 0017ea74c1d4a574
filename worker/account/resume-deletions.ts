import { openDb } from "#worker/db/client.ts";
import { listUnfinishedDeletions } from "#worker/db/deletions.ts";
import { purgeEndedSessions } from "#worker/db/ended-sessions.ts";
import { logError } from "#worker/lib/log.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

/** Resumes account deletions that are not running, because their UserChannel was never notified or lost its alarm. */
export const resumeAccountDeletions = async (env: Env, now: number): Promise<void> => {
  const db = openDb(env);
  for (const user of await listUnfinishedDeletions(db)) {
    await getUserChannelStub(env, user)
      .deleteAccount(user)
      .catch((error: unknown) => logError("an account deletion could not be resumed and is retried in an hour", error));
  }
  await purgeEndedSessions(db, now);
};
