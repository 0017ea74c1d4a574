import type { Table } from "dexie";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import type { LocalConversationRow, LocalStore, OutboxRow, UploadRow } from "./database.ts";
import { type DraftTarget, toDraftSlotKeys, toRecordingKeys } from "./pending/draft-keys.ts";
import { setListPosition } from "./row-mapping.ts";

/**
 * Messages a member wrote and did not send stay readable after leaving a group, and also when its history was deleted.
 * They can be copied and deleted, but are not sent. Messages that were in flight when the membership ended may be in
 * the log: the server is asked under the same client id.
 */

const isUploadPending = ({ state }: UploadRow): boolean => state !== "failed" && state !== "cancelled";

/** Whether the message waits for its file, so that the server cannot have it. */
export const isAwaitingUpload = ({ state }: OutboxRow): boolean => state === "awaiting";

/**
 * Marks unsent messages of a conversation as failed, and their uploads unless another message needs the file. Used
 * after leaving a group or the deletion of the recipient's account. `error` is the code the server would answer.
 * Requires a transaction over the outbox and the uploads.
 */
export const failUnsentMessages = async (
  store: LocalStore,
  conversation: ConversationId,
  matches: (row: OutboxRow) => boolean,
  error: ErrorCode = "conversation_not_found",
): Promise<void> => {
  const files = new Set<Uuid>();
  await store
    .queryUnsent(conversation)
    .filter(matches)
    .modify((row) => {
      const file = row.source ? undefined : findAttachment(row.body)?.file;
      if (file !== undefined) files.add(file);
      if (row.state !== "failed") Object.assign(row, { state: "failed", error });
    });
  for (const file of files) {
    // Another unsent message may reference the same file.
    const stillNeeded = await store
      .queryUnsentByFile(file)
      .filter(({ state }) => state !== "failed")
      .first();
    if (!stillNeeded)
      await store.uploads.where("file").equals(file).filter(isUploadPending).modify({ state: "failed" });
  }
};

/**
 * Whether the conversation has a draft with attachments or an unsent recording. Requires a transaction over `meta` and the recordings.
 */
const hasDraftContent = async (store: LocalStore, conversation: ConversationId): Promise<boolean> =>
  (await store.meta.where("key").anyOf(toDraftSlotKeys(conversation)).count()) > 0 ||
  (await store.recordings.where("conversation").anyOf(toRecordingKeys(conversation)).count()) > 0;

/**
 * Updates a row's place in the conversation list from its unsent content. Requires a transaction over the outbox,
 * `meta` and the recordings.
 */
const updateListPosition = async (store: LocalStore, row: LocalConversationRow): Promise<void> => {
  const newest = await store.queryUnsent(row.id).last();
  setListPosition(row, newest?.createdAt, row.gone && (await hasDraftContent(store, row.id)));
};

/**
 * Same for several rows; reads the outbox once instead of once for each. Requires a transaction over the outbox, `meta`
 * and the recordings.
 */
export const updateListPositions = async (
  store: LocalStore,
  rows: readonly [LocalConversationRow, ...LocalConversationRow[]],
): Promise<void> => {
  if (rows.length === 1) return updateListPosition(store, rows[0]);
  const newest = new Map(
    (await store.outbox.orderBy("order").toArray()).map((unsent) => [unsent.conversation, unsent]),
  );
  for (const row of rows)
    setListPosition(row, newest.get(row.id)?.createdAt, row.gone && (await hasDraftContent(store, row.id)));
};

/**
 * Deletes the outbox row of an unsent message, and its file if no other message references it. Requires a transaction
 * over `sendingTables` and the recordings.
 */
export const deleteOutboxRow = async (
  store: LocalStore,
  { cid, conversation, body, source }: OutboxRow,
): Promise<void> => {
  await store.outbox.delete(cid);
  const file = source ? undefined : findAttachment(body)?.file;
  if (file !== undefined && (await store.queryUnsentByFile(file).count()) === 0) {
    await store.uploads.update(file, { state: "cancelled" });
    await Promise.all([store.files.delete(file), store.blobs.delete(file)]);
  }
  const row = await store.conversations.get(conversation);
  if (!row) return;
  await updateListPosition(store, row);
  await store.conversations.put(row);
};

const updateGoneListPosition = async (store: LocalStore, conversation: DraftTarget): Promise<void> => {
  const row = await store.conversations.get(conversation);
  if (!row?.gone) return;
  await updateListPosition(store, row);
  await store.conversations.put(row);
};

/**
 * Changes a draft and, in the same transaction, the list position of its conversation: a left conversation stays listed
 * only while it has unsent content. `tables` are further tables that `change` writes.
 */
export const changeUnsentContent = <T>(
  store: LocalStore,
  conversation: DraftTarget,
  tables: readonly Table[],
  change: () => Promise<T>,
): Promise<T> =>
  store.transaction("rw", [store.conversations, store.outbox, store.meta, store.recordings, ...tables], async () => {
    const result = await change();
    await updateGoneListPosition(store, conversation);
    return result;
  });
