import type { Table } from "dexie";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { changeMessage, findUploadFile, listUnsent, listUnsentByFile } from "#sync/unsent/messages.ts";
import { conversationFlags } from "#sync/unsent/operations.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import type { LocalConversationRow, LocalStore, UploadRow } from "./database.ts";
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

/** Transaction of the local store that changes unsent messages once it is committed. */
export type UnsentTransaction = {
  readonly store: LocalStore;
  readonly unsent: Pick<UnsentStore, "list">;
  /** Changes of the unsent database to be made after the commit. */
  readonly unsentChanges: UnsentChange[];
  /** Device time at the start. */
  readonly startedAt: number;
};

/**
 * Marks unsent messages of a conversation as failed, and their uploads unless another message needs the file. Used
 * after leaving a group or the deletion of the recipient's account. `error` is the code the server would answer.
 * Requires a transaction over the uploads.
 */
export const failUnsentMessages = async (
  { store, unsent, unsentChanges, startedAt }: UnsentTransaction,
  conversation: ConversationId,
  matches: (row: OutboxRow) => boolean,
  error: ErrorCode = "conversation_not_found",
): Promise<void> => {
  const failed = listUnsent(unsent, conversation).filter(matches);
  const ids = new Set(failed.map(({ cid }) => cid));
  for (const { cid } of failed)
    unsentChanges.push(
      changeMessage(cid, startedAt, (row) => (row.state === "failed" ? row : { ...row, state: "failed", error })),
    );
  for (const file of new Set(failed.flatMap((row) => findUploadFile(row) ?? []))) {
    const isStillNeeded = listUnsentByFile(unsent, file).some(({ cid, state }) => state !== "failed" && !ids.has(cid));
    if (!isStillNeeded)
      await store.uploads.where("file").equals(file).filter(isUploadPending).modify({ state: "failed" });
  }
};

/**
 * Whether the conversation has a draft with attachments or an unsent recording. Requires a transaction over `meta` and the recordings.
 */
const hasDraftContent = async (store: LocalStore, conversation: ConversationId): Promise<boolean> =>
  (await store.meta.where("key").anyOf(toDraftSlotKeys(conversation)).count()) > 0 ||
  (await store.recordings.where("conversation").anyOf(toRecordingKeys(conversation)).count()) > 0;

/** Sets the flags in a row that this person chose and the server has not confirmed, as the index of the list needs them. */
export const projectFlags = (unsent: Pick<UnsentStore, "list" | "find">, row: LocalConversationRow): void => {
  const pending = conversationFlags.find(unsent, { conversation: row.id });
  delete row.wanted;
  if (!pending) return;
  const { marked, archived, pinned, chosenAt } = pending;
  row.wanted = { marked, archived, pinned, at: chosenAt };
};

/**
 * Updates the place of rows in the conversation list, with their unsent flags. A left conversation stays listed only while it has unsent content;
 * unsent messages are added by the query (`src/sync/queries/conversation-list.ts`). Requires a transaction over `meta`
 * and the recordings.
 */
export const updateListPositions = async (
  { store, unsent }: { store: LocalStore; unsent: Pick<UnsentStore, "list" | "find"> },
  rows: readonly LocalConversationRow[],
): Promise<void> => {
  for (const row of rows) {
    projectFlags(unsent, row);
    setListPosition(row, row.gone && (await hasDraftContent(store, row.id)));
  }
};

/**
 * Cancels the upload of a message that is being discarded, and deletes its file, if no other message references it.
 * Requires a transaction over the uploads, files and blobs.
 */
export const discardFile = async (
  store: LocalStore,
  unsent: Pick<UnsentStore, "list">,
  message: OutboxRow,
): Promise<void> => {
  const file: Uuid | undefined = findUploadFile(message);
  if (file === undefined || listUnsentByFile(unsent, file).some(({ cid }) => cid !== message.cid)) return;
  await store.uploads.update(file, { state: "cancelled" });
  await Promise.all([store.files.delete(file), store.blobs.delete(file)]);
};

const updateGoneListPosition = async (store: LocalStore, conversation: DraftTarget): Promise<void> => {
  const row = await store.conversations.get(conversation);
  if (!row?.gone) return;
  setListPosition(row, await hasDraftContent(store, conversation));
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
  store.transaction("rw", [store.conversations, store.meta, store.recordings, ...tables], async () => {
    const result = await change();
    await updateGoneListPosition(store, conversation);
    return result;
  });
