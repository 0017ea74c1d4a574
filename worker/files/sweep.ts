import { and, eq, inArray, lt, ne, sql } from "drizzle-orm";
import { orphanMaxMs } from "../../contract/limits";
import { type Db, openDb } from "../db/client";
import { files } from "../db/file-schema";
import { isUnused, removeFile } from "../db/files";
import { allParts, announcedAt } from "../lib/file-bytes";
import { logError } from "../lib/log";
import { dayOf } from "./queries";

/**
 * Takes away what nobody needs: files that were never completed or never named by a message, files whose removal
 * was interrupted, parts that outlived their file, and counts of days gone by. In bounded batches; what is left over
 * waits for the next hour.
 */

const batchFiles = 50;
const batchesMax = 20;
const removalsAtOnce = 5;
const listingMax = 1_000; // the platform's page of a listing
const listingsMax = 10;
const daysBatch = 1_000;

/** SQL: in the index of what may have to go. */
const mayGo = sql`(${files.was_used} = 0 OR ${files.status} = 'removed')`;

/** Marks the oldest orphans. One statement decides: a file that a message named before it stays. */
const markOrphans = async (db: Db, before: number): Promise<void> => {
  const orphans = db
    .select({ id: files.id })
    .from(files)
    .where(and(mayGo, lt(files.created_at, before), ne(files.status, "removed"), isUnused))
    .orderBy(files.created_at)
    .limit(batchFiles);
  await db
    .update(files)
    .set({ status: "removed" })
    .where(and(inArray(files.id, orphans), isUnused));
};

/** Removes one batch; how many of them are gone. */
const removeMarked = async (env: Env, db: Db): Promise<number> => {
  const queue = await db
    .select()
    .from(files)
    .where(and(mayGo, eq(files.status, "removed")))
    .orderBy(files.created_at)
    .limit(batchFiles);
  let removed = 0;
  const work = async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      try {
        await removeFile(env, file);
        removed++;
      } catch (error) {
        logError("a file waits for the next sweep", error);
      }
    }
  };
  await Promise.all(Array.from({ length: removalsAtOnce }, work));
  return removed;
};

/** Parts of files announced before: their file is ready or gone, or a part came in while it went. */
const removeParts = async (bucket: R2Bucket, before: number): Promise<void> => {
  for (let listing = 0; listing < listingsMax; listing++) {
    const { objects } = await bucket.list({ prefix: allParts, limit: listingMax });
    const old = objects.map(({ key }) => key).filter((key) => announcedAt(key) < before);
    if (old.length > 0) await bucket.delete(old);
    if (old.length < listingMax) return;
  }
};

const forgetDays = (db: Db, today: number) =>
  db.run(
    sql`DELETE FROM upload_days WHERE rowid IN (SELECT rowid FROM upload_days WHERE day < ${today} LIMIT ${daysBatch})`,
  );

export const sweepFiles = async (env: Env, now: number): Promise<void> => {
  const db = openDb(env);
  const before = now - orphanMaxMs;
  for (let batch = 0; batch < batchesMax; batch++) {
    await markOrphans(db, before);
    if ((await removeMarked(env, db)) < batchFiles) break;
  }
  await removeParts(env.FILES, before);
  await forgetDays(db, dayOf(now));
};
