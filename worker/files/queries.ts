import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import type { MediaType, NewFile } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileBytesPerDay, filesReceivingMax, storageMaxBytes } from "#contract/limits.ts";
import type { Db } from "#worker/db/client.ts";
import { files, upload_days } from "#worker/db/file-schema.ts";
import { isUnreferenced } from "#worker/db/files.ts";

export type FileRecord = typeof files.$inferSelect;

const isNotRemoved = (id: Uuid) => and(eq(files.id, id), ne(files.status, "removed"));

export const findFile = (db: Db, id: Uuid): Promise<FileRecord | undefined> =>
  db.select().from(files).where(isNotRemoved(id)).get();

/** One's own; somebody else's does not exist. */
export const findOwnFile = async (db: Db, owner: Uuid, id: Uuid): Promise<FileRecord | undefined> => {
  const file = await findFile(db, id);
  return file?.owner_id === owner ? file : undefined;
};

const dayMs = 24 * 3_600_000;
export const toUtcDay = (now: number): number => Math.floor(now / dayMs);

const receivingRetryMs = 60_000;

/** Why there is no room for a file that is new. */
export type UploadRefusal = { error: "rate_limited"; retryAfterMs: number } | { error: "storage_full" };

/** SQL: bytes of the person's files that are kept. */
const selectStoredBytes = (owner: Uuid): SQL =>
  sql`coalesce((SELECT bytes FROM storage_use WHERE user_id = ${owner}), 0)`;
/** SQL: how many of the person's files are announced and not complete. */
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
 * Makes room for a file, unless there is one of this id, and answers what there is then. The bytes of the day are counted
 * in the same transaction, for a file that is new only: the file is made when this very request's mark stands at the
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

/** The key that the file's bytes go to: the first one that is proposed. Nothing when it is not received any more. */
export const claimFileKey = async (db: Db, id: Uuid, proposed: string): Promise<string | undefined> => {
  const [row] = await db
    .update(files)
    .set({ key: sql`coalesce(${files.key}, ${proposed})` })
    .where(and(eq(files.id, id), eq(files.status, "receiving")))
    .returning({ key: files.key });
  return row?.key ?? undefined;
};

export type MediaInfo = { type: MediaType; width: number | null; height: number | null };

/** From now on messages may name it. Nothing when it was taken back meanwhile. */
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

/** Takes back one's own file that no message names; nothing when there is none. */
export const markFileRemoved = async (db: Db, owner: Uuid, id: Uuid): Promise<FileRecord | undefined> => {
  const [row] = await db
    .update(files)
    .set({ status: "removed" })
    .where(and(isNotRemoved(id), eq(files.owner_id, owner), isUnreferenced))
    .returning();
  return row;
};
