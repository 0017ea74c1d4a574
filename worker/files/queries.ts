import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import type { MediaType, NewFile } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { fileBytesPerDay, filesReceivingMax, storageMaxBytes } from "#contract/limits/files.ts";
import type { Db } from "#worker/db/client.ts";
import { files, upload_days } from "#worker/db/file-schema.ts";
import { type FileRecord, isUnreferenced } from "#worker/db/files.ts";

const isNotRemoved = (id: Uuid) => and(eq(files.id, id), ne(files.status, "removed"));

export const findFile = (db: Db, id: Uuid): Promise<FileRecord | undefined> =>
  db.select().from(files).where(isNotRemoved(id)).get();

/** Own file; another person's is treated as missing. */
export const findOwnFile = async (db: Db, owner: Uuid, id: Uuid): Promise<FileRecord | undefined> => {
  const file = await findFile(db, id);
  return file?.owner_id === owner ? file : undefined;
};

export const toUtcDay = (now: number): number => Math.floor(now / dayMs);

const receivingRetryMs = 60_000;

/** Reason for refusing a new file. */
export type UploadRefusal = { error: "rate_limited"; retryAfterMs: number } | { error: "storage_full" };

/** SQL: stored bytes of the person's files. */
const selectStoredBytes = (owner: Uuid): SQL =>
  sql`coalesce((SELECT bytes FROM storage_use WHERE user_id = ${owner}), 0)`;
/** SQL: number of the person's incomplete files. */
const countReceivingFiles = (owner: Uuid): SQL =>
  sql`(SELECT count(*) FROM files WHERE owner_id = ${owner} AND status = 'receiving')`;

const findUploadRefusal = async (db: Db, owner: Uuid, size: number, now: number): Promise<UploadRefusal> => {
  const { stored, receiving } = await db.get<{ stored: number; receiving: number }>(
    sql`SELECT ${selectStoredBytes(owner)} AS stored, ${countReceivingFiles(owner)} AS receiving`,
  );
  if (stored + size > storageMaxBytes) return { error: "storage_full" };
  const retryAfterMs = receiving >= filesReceivingMax ? receivingRetryMs : (toUtcDay(now) + 1) * dayMs - now;
  return { error: "rate_limited", retryAfterMs };
};

/**
 * Reserves quota for a new file and returns its row, or the existing row of this id. The bytes of the day are counted
 * in the same transaction, only for a new file: the row is inserted only if this request's `granted` mark is in the
 * count.
 */
export const announceFile = async (
  db: Db,
  owner: Uuid,
  id: Uuid,
  { name, size }: NewFile,
  now: number,
): Promise<FileRecord | UploadRefusal> => {
  const [day, granted] = [toUtcDay(now), createUuid(now)];
  const [, , [row]] = await db.batch([
    db
      .insert(upload_days)
      .select(
        sql`SELECT ${owner}, ${day}, ${size}, ${granted} WHERE NOT EXISTS (SELECT 1 FROM files WHERE id = ${id})
            AND ${selectStoredBytes(owner)} + ${size} <= ${storageMaxBytes} AND ${countReceivingFiles(owner)} < ${filesReceivingMax}`,
      )
      .onConflictDoUpdate({
        target: [upload_days.user_id, upload_days.day],
        set: { bytes: sql`${upload_days.bytes} + excluded.bytes`, granted: sql`excluded.granted` },
        setWhere: sql`${upload_days.bytes} + excluded.bytes <= ${fileBytesPerDay}`,
      }),
    db.insert(files).select(
      sql`SELECT ${id}, user_id, ${name}, ${size}, NULL, NULL, NULL, NULL, NULL, 'receiving', 0, ${now}
          FROM upload_days WHERE user_id = ${owner} AND day = ${day} AND granted = ${granted}`,
    ),
    db.select().from(files).where(eq(files.id, id)),
  ]);
  return row ?? findUploadRefusal(db, owner, size, now);
};

/** Sets the R2 key of a file; the first proposal wins. Returns undefined if the file is not being received any more. */
export const claimFileKey = async (db: Db, id: Uuid, proposed: string): Promise<string | undefined> => {
  const [row] = await db
    .update(files)
    .set({ key: sql`coalesce(${files.key}, ${proposed})` })
    .where(and(eq(files.id, id), eq(files.status, "receiving")))
    .returning({ key: files.key });
  return row?.key ?? undefined;
};

export type MediaInfo = { type: MediaType; width: number | null; height: number | null };

/**
 * Marks a file as ready, so that messages can reference it. Returns undefined if the upload was cancelled meanwhile.
 */
export const markFileReady = async (
  db: Db,
  id: Uuid,
  ready: MediaInfo & { size: number },
): Promise<FileRecord | undefined> => {
  const [row] = await db
    .update(files)
    .set({ ...ready, status: "ready" })
    .where(and(eq(files.id, id), eq(files.status, "receiving")))
    .returning();
  return row;
};

/** Marks an own unreferenced file as removed; returns undefined if there is none. */
export const markFileRemoved = async (db: Db, owner: Uuid, id: Uuid): Promise<FileRecord | undefined> => {
  const [row] = await db
    .update(files)
    .set({ status: "removed" })
    .where(and(isNotRemoved(id), eq(files.owner_id, owner), isUnreferenced))
    .returning();
  return row;
};
