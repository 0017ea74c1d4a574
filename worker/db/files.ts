import { and, eq, inArray, sql } from "drizzle-orm";
import type { MediaType } from "#contract/files.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { deleteFileBytes, type StoredFile } from "#worker/lib/storage/file-bytes.ts";
import { type Db, openDb } from "./client.ts";
import { file_uses, files } from "./file-schema.ts";

/**
 * References from messages to files. Adding, releasing and purging are each decided by one conditional statement, so
 * that in any order no message references a deleted file.
 */

export type FileRecord = typeof files.$inferSelect;

export type ReadyFile = {
  id: Uuid;
  owner_id: Uuid;
  name: string;
  size: number; // as stored, without metadata
  type: MediaType;
  width: number | null;
  height: number | null;
};

/** The person's own ready files among these ids. */
export const findReadyFiles = async (db: Db, owner: Uuid, ids: Uuid[]): Promise<ReadyFile[]> => {
  const rows = await db
    .select()
    .from(files)
    .where(and(inArray(files.id, ids), eq(files.owner_id, owner), eq(files.status, "ready")));
  return rows.flatMap(({ id, owner_id, name, size, type, width, height }) =>
    size === null || type === null ? [] : [{ id, owner_id, name, size, type, width, height }],
  );
};

/**
 * Adds a reference from a message to a file; returns false if the file does not exist. Call it before the message is
 * stored. Idempotent, so a repeated message calls it again.
 */
export const addFileReference = async (
  db: Db,
  file: Uuid,
  conversation: ConversationId,
  cid: Uuid,
): Promise<boolean> => {
  const [added] = await db.batch([
    db
      .insert(file_uses)
      .select(sql`SELECT id, ${conversation}, ${cid} FROM files WHERE id = ${file} AND status = 'ready'`)
      // No-op update, so that an existing reference is returned too.
      .onConflictDoUpdate({
        target: [file_uses.file_id, file_uses.conversation_id, file_uses.cid],
        set: { cid: sql`excluded.cid` },
      })
      .returning({ file_id: file_uses.file_id }),
    db
      .update(files)
      .set({ was_used: true })
      .where(and(eq(files.id, file), eq(files.status, "ready"), eq(files.was_used, false))),
  ]);
  return added.length > 0;
};

/** SQL: no message references the file. */
export const isUnreferenced = sql`NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = ${files.id})`;

const deleteFileReference = (db: Db, file: Uuid, conversation: ConversationId, cid: Uuid) =>
  db
    .delete(file_uses)
    .where(and(eq(file_uses.file_id, file), eq(file_uses.conversation_id, conversation), eq(file_uses.cid, cid)));

/** Deletes the rows of files marked as removed, in one statement. Their bytes must be deleted before. */
export const deleteRemovedFiles = async (db: Db, ids: readonly Uuid[]): Promise<void> => {
  const isListed = sql`${files.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
  await db.delete(files).where(and(isListed, eq(files.status, "removed")));
};

/** Purges a file marked as removed: its bytes, then its row. The job `purgeFiles` repeats what fails here. */
export const purgeFile = async (env: Pick<Env, "DB" | "FILES">, file: StoredFile): Promise<void> => {
  await deleteFileBytes(env.FILES, file);
  await deleteRemovedFiles(openDb(env), [file.id]);
};

/** Cancels the reference of a message that was not stored, as if it had never existed. */
export const cancelFileReference = async (
  db: Db,
  file: Uuid,
  conversation: ConversationId,
  cid: Uuid,
): Promise<void> => {
  await db.batch([
    deleteFileReference(db, file, conversation, cid),
    db
      .update(files)
      .set({ was_used: false })
      .where(and(eq(files.id, file), isUnreferenced)),
  ]);
};

/** Releases a message's reference. The last release purges the file. */
export const releaseFileReference = async (
  env: Pick<Env, "DB" | "FILES">,
  file: Uuid,
  conversation: ConversationId,
  cid: Uuid,
): Promise<void> => {
  const db = openDb(env);
  const [, removed] = await db.batch([
    deleteFileReference(db, file, conversation, cid),
    db
      .update(files)
      .set({ status: "removed" })
      .where(and(eq(files.id, file), eq(files.was_used, true), isUnreferenced))
      .returning(),
  ]);
  for (const row of removed) await purgeFile(env, row);
};
