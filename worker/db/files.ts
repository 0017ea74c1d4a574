import { and, eq, inArray, sql } from "drizzle-orm";
import type { MediaType } from "#contract/files.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { deleteFileBytes, type StoredFile } from "#worker/lib/storage/file-bytes.ts";
import { type Db, openDb } from "./client.ts";
import { file_uses, files } from "./file-schema.ts";

/**
 * Which messages name which files. Naming a file, releasing it and sweeping it away are each decided by one
 * conditional statement, so that whichever comes first, no message names a file that is gone.
 */

export type ReadyFile = {
  id: Uuid;
  owner_id: Uuid;
  name: string;
  size: number; // as stored: what was announced, less the metadata
  type: MediaType;
  width: number | null;
  height: number | null;
};

/** Of these files those that are ready and this person's own. */
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
 * A message names the file from now on; false when the file is not there (any more). To be called before the message
 * is stored, and again whenever it is sent again: that is still one use.
 */
export const addFileReference = async (
  db: Db,
  file: Uuid,
  conversation: ConversationId,
  cid: Uuid,
): Promise<boolean> => {
  const [used] = await db.batch([
    db
      .insert(file_uses)
      .select(sql`SELECT id, ${conversation}, ${cid} FROM files WHERE id = ${file} AND status = 'ready'`)
      // Changes nothing, but makes a use that was there already one that is returned.
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
  return used.length > 0;
};

/** SQL: no message names the file. */
export const isUnreferenced = sql`NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = ${files.id})`;

const deleteFileReference = (db: Db, file: Uuid, conversation: ConversationId, cid: Uuid) =>
  db
    .delete(file_uses)
    .where(and(eq(file_uses.file_id, file), eq(file_uses.conversation_id, conversation), eq(file_uses.cid, cid)));

/** Takes a file that was marked as removed out of R2, and then its row. What fails here the sweep does again. */
export const removeFile = async (env: Pick<Env, "DB" | "FILES">, file: StoredFile): Promise<void> => {
  await deleteFileBytes(env.FILES, file);
  await openDb(env)
    .delete(files)
    .where(and(eq(files.id, file.id), eq(files.status, "removed")));
};

/** The message that was to name the file was not stored: the file is as unused as before. */
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

/** The message names the file no longer. With the last one that named it a file goes. */
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
  for (const row of removed) await removeFile(env, row);
};
