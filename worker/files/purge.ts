import { and, eq, lt, ne, type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { orphanMaxMs } from "#contract/limits/files.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { files } from "#worker/db/file-schema.ts";
import { deleteRemovedFiles, isUnreferenced } from "#worker/db/files.ts";
import { runInBatches } from "#worker/lib/deletion/run-in-batches.ts";
import { logError } from "#worker/lib/log.ts";
import { deleteFileBytes, partsPrefix, readAnnouncedAt } from "#worker/lib/storage/file-bytes.ts";
import { toUtcDay } from "./queries.ts";

/**
 * Purges unneeded files: never completed or never referenced by a message, interrupted removals, parts that outlived
 * their file, and upload counts of past days. Each run handles as many files as the platform's limits for one invocation
 * allow: 10,000 requests, of which a file takes up to three, and 1,000 statements of the directory, of which a batch
 * takes three (developers.cloudflare.com/d1/platform/limits, /workers/platform/limits). The next run continues.
 * Owners take turns, oldest file first, so that one owner with many files does not delay the others.
 */

const batchFiles = 500;
const batchesMax = 4;
const purgesAtOnce = 5;
const listingMax = 1_000; // page size of an R2 listing
const listingsMax = 200;
const daysBatch = 1_000;
const daysBatchesMax = 50;

/** SQL: the condition of the partial index `files_to_sweep`. */
const isPurgeCandidate = sql`(${files.was_used} = 0 OR ${files.status} = 'removed')`;

/** SQL: ids of the next batch of these files, one of each owner in turn. */
const selectRoundRobin = (which: SQL | undefined): SQL => sql`
  SELECT id FROM (
    SELECT id, created_at, row_number() OVER (PARTITION BY owner_id ORDER BY created_at) AS turn
    FROM files WHERE ${isPurgeCandidate} AND ${which}
  ) ORDER BY turn, created_at LIMIT ${batchFiles}`;

/** Marks unreferenced files as removed. One statement decides: a file that a message referenced before stays. */
const markOrphanedFiles = async (db: Db, before: number): Promise<void> => {
  const orphans = selectRoundRobin(and(lt(files.created_at, before), ne(files.status, "removed"), isUnreferenced));
  await db
    .update(files)
    .set({ status: "removed" })
    .where(and(sql`${files.id} IN (${orphans})`, isUnreferenced));
};

/** Purges one batch of marked files, their bytes before their rows; returns the number of purged ones. */
const purgeMarkedFiles = async (env: Env, db: Db): Promise<number> => {
  const queue = await db
    .select()
    .from(files)
    .where(sql`${files.id} IN (${selectRoundRobin(eq(files.status, "removed"))})`);
  const purged: Uuid[] = [];
  const purgeNext = async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      try {
        await deleteFileBytes(env.FILES, file);
        purged.push(file.id);
      } catch (error) {
        logError("a file could not be purged and is retried", error);
      }
    }
  };
  await Promise.all(Array.from({ length: purgesAtOnce }, purgeNext));
  if (purged.length > 0) await deleteRemovedFiles(db, purged);
  return purged.length;
};

/**
 * Purges parts of files announced before the given time: their file is ready or gone, or a part arrived while it was
 * purged.
 */
const purgeOldParts = async (bucket: R2Bucket, before: number): Promise<void> => {
  for (let listing = 0; listing < listingsMax; listing++) {
    const { objects } = await bucket.list({ prefix: partsPrefix, limit: listingMax });
    const old = objects.map(({ key }) => key).filter((key) => readAnnouncedAt(key) < before);
    if (old.length > 0) await bucket.delete(old);
    if (old.length < listingMax) return;
  }
};

const purgeUploadDays = async (db: Db, today: number): Promise<number> => {
  const { meta } = await db.run(
    sql`DELETE FROM upload_days WHERE rowid IN (SELECT rowid FROM upload_days WHERE day < ${today} LIMIT ${daysBatch})`,
  );
  return meta.changes;
};

export const purgeFiles = async (env: Env, now: number): Promise<void> => {
  const db = openDb(env);
  const before = now - orphanMaxMs;
  await runInBatches(batchFiles, batchesMax, async () => {
    await markOrphanedFiles(db, before);
    return purgeMarkedFiles(env, db);
  });
  await purgeOldParts(env.FILES, before);
  await runInBatches(daysBatch, daysBatchesMax, () => purgeUploadDays(db, toUtcDay(now)));
};
