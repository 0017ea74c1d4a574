import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import type { LocalStore, OutboxRow } from "#sync/store/database.ts";
import { listDraftFiles } from "#sync/store/pending/draft-keys.ts";
import { createConversationRow, setListPosition } from "#sync/store/row-mapping.ts";
import { type StoredBytes, toBlob, toStoredBytes } from "#sync/store/stored-bytes.ts";
import { type KnownNames, readKnownNames } from "./known-names.ts";
import { emptyUnsentSnapshot, isUnsentRow, readUnsentTables, type UnsentSnapshot } from "./unsent-backup.ts";

type StrictStore = { strict: LocalStore };

/**
 * Reads unsent content from an open database, e.g. before another page deletes it: the deletion waits for this page.
 */
export const readUnsentSnapshot = async ({ store }: { store: LocalStore }): Promise<UnsentSnapshot> => {
  const unsent = await readUnsentTables(async (table) => {
    if (table === "blobs") return [];
    const rows = await store.table(table).toArray();
    return table === "meta" ? rows.filter((row) => isUnsentRow(table, row)) : rows;
  });
  const names = await readKnownNames(store, listUnsentConversations(unsent));
  return { ...unsent, names, blobs: await store.blobs.where("file").anyOf(listReferencedFiles(unsent)).toArray() };
};

/** Conversations of the unsent messages. */
export const listUnsentConversations = ({ outbox }: UnsentSnapshot): ConversationId[] =>
  outbox.map(({ conversation }) => conversation);

/** Ids of the files of unsent messages. */
export const listAttachedFiles = (outbox: readonly OutboxRow[]): Uuid[] =>
  outbox.flatMap(({ body }) => findAttachment(body)?.file ?? []);

/** Ids of the files of unsent messages, drafts and posts. */
export const listReferencedFiles = ({ outbox, meta, postbox }: UnsentSnapshot): Uuid[] => [
  ...listAttachedFiles(outbox),
  ...listDraftFiles(meta),
  ...postbox.map(({ id }) => id),
];

/** Rows with bytes in the form that the database accepts: they may come from one in memory, which accepts Blobs. */
const toStoredRows = async (
  store: LocalStore,
  { blobs, chunks }: UnsentSnapshot,
): Promise<Pick<UnsentSnapshot, "blobs" | "chunks">> => {
  const toBytes = (bytes: StoredBytes) => toStoredBytes(store, toBlob(bytes));
  return {
    blobs: await Promise.all(blobs.map(async (row) => ({ ...row, blob: await toBytes(row.blob) }))),
    chunks: await Promise.all(chunks.map(async (row) => ({ ...row, chunk: await toBytes(row.chunk) }))),
  };
};

/** Stores unsent content behind what is unsent already, with its conversations in the list. */
export const insertUnsentSnapshot = async (
  { strict }: StrictStore,
  me: Uuid,
  unsent: UnsentSnapshot,
): Promise<void> => {
  const { outbox, uploads } = unsent;
  const { blobs, chunks } = await toStoredRows(strict, unsent);
  const storedFiles = new Set(blobs.map(({ file }) => file));
  const referenced = new Set(listAttachedFiles(outbox));
  await strict.transaction(
    "rw",
    [...strict.sendingTables, strict.recordings, strict.chunks, strict.postbox, strict.people],
    async () => {
      await strict.meta.bulkPut(unsent.meta);
      await strict.recordings.bulkPut(unsent.recordings);
      await strict.chunks.bulkPut(chunks);
      await strict.postbox.bulkPut(unsent.postbox);
      await strict.blobs.bulkPut(blobs);
      await strict.uploads.bulkPut(uploads.filter(({ file }) => storedFiles.has(file)));
      const withoutUpload = blobs.filter(
        ({ file }) => referenced.has(file) && !uploads.some((upload) => upload.file === file),
      );
      await strict.files.bulkPut(withoutUpload.map(({ file, blob }) => ({ file, size: toBlob(blob).size, usedAt: 0 })));
      const last = (await strict.outbox.orderBy("order").last())?.order ?? 0;
      const toRow = (row: OutboxRow) => ({ ...failIfFileLost(row, storedFiles), order: last + row.order });
      await strict.outbox.bulkPut(outbox.map(toRow));
      for (const { conversation, createdAt } of outbox) {
        const row = (await strict.conversations.get(conversation)) ?? createConversationRow(conversation, me);
        setListPosition(row, Math.max(createdAt, row.lastAt));
        await strict.conversations.put(row);
      }
      await insertKnownNames(strict, unsent.names);
    },
  );
};

/** Stores names that the database does not know yet. What the server tells of them replaces them. */
const insertKnownNames = async (store: LocalStore, { people, groups }: KnownNames): Promise<void> => {
  for (const person of people) if (!(await store.people.get(person.id))) await store.people.put(person);
  for (const { id, group } of groups) {
    const row = await store.conversations.get(id);
    if (row && row.group === null) await store.conversations.put({ ...row, group: { ...group, roster: 0 } });
  }
};

/** Marks a message as failed if its file could not be restored; it is not sent without it. */
const failIfFileLost = (row: OutboxRow, storedFiles: ReadonlySet<Uuid>): OutboxRow =>
  row.state === "awaiting" && !storedFiles.has(findAttachment(row.body)?.file ?? "")
    ? { ...row, state: "failed", error: "file_not_found" }
    : row;

/**
 * Restores unsent content into a rebuilt database. If that fails, only messages and drafts are restored; messages that
 * still need their file are marked as failed.
 */
export const restoreUnsentSnapshot = async (stores: StrictStore, me: Uuid, unsent: UnsentSnapshot): Promise<void> => {
  try {
    await insertUnsentSnapshot(stores, me, unsent);
  } catch {
    const { outbox, meta, names } = unsent;
    await insertUnsentSnapshot(stores, me, { ...emptyUnsentSnapshot, outbox, meta, names });
  }
};
