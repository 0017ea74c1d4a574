import { resumeAccountDeletions } from "#worker/account/resume-deletions.ts";
import { purgeExpiredRows } from "#worker/auth/purge-expired.ts";
import { resealSecrets } from "#worker/auth/second-factor/key-rotation.ts";
import { expireSessions } from "#worker/auth/sessions/expire-sessions.ts";
import { purgeInvitations } from "#worker/contacts/invitation-queries.ts";
import { openDb } from "#worker/db/client.ts";
import { purgeFiles } from "#worker/files/purge.ts";
import { purgeGroupInvitations } from "#worker/groups/invitation-queries.ts";
import { runInBatches } from "#worker/lib/deletion/run-in-batches.ts";
import { purgeFullBuckets } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { purgeFormerHandles } from "#worker/people/handle-queries.ts";
import { purgeNumberProofs } from "#worker/people/numbers/queries.ts";
import { purgeDeletedPosts } from "#worker/tala/queries.ts";

const expiredPerTable = 50_000; // anybody may start a sign-in; its rows live for an hour or two at most
const bucketsPerBatch = 5_000;
const bucketBatchesMax = 50;

/** Jobs of the hourly run by their names in the log. Each can be repeated and continues where the last run ended. */
const hourlyJobs: Readonly<Record<string, (env: Env, now: number) => Promise<void>>> = {
  purgeFiles,
  purgeDeletedPosts: (env, now) => purgeDeletedPosts(openDb(env), now),
  resumeAccountDeletions,
  expireSessions,
  purgeExpiredRows: (env, now) => purgeExpiredRows(openDb(env), now, expiredPerTable),
  purgeFullBuckets: (env, now) =>
    runInBatches(bucketsPerBatch, bucketBatchesMax, () => purgeFullBuckets(openDb(env), now, bucketsPerBatch)),
  purgeFormerHandles: (env, now) => purgeFormerHandles(openDb(env), now, expiredPerTable),
  purgeNumberProofs: (env, now) => purgeNumberProofs(openDb(env), now, expiredPerTable),
  purgeInvitations: (env, now) => purgeInvitations(openDb(env), now, expiredPerTable),
  purgeGroupInvitations: (env, now) => purgeGroupInvitations(openDb(env), now, expiredPerTable),
  resealSecrets,
};

/** Runs all jobs. A job that fails is logged and ends no other. */
export const runHourlyJobs = async (env: Env, now = Date.now()): Promise<void> => {
  await Promise.all(
    Object.entries(hourlyJobs).map(async ([name, run]) => {
      try {
        await run(env, now);
      } catch (error) {
        logError(`the hourly job ${name} failed`, error);
      }
    }),
  );
};
