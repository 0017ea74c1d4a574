import type { Table } from "dexie";
import { findAttachment } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import {
  type DraftTarget,
  type LocalConversationRow,
  type LocalStore,
  type OutboxRow,
  toDraftSlotKeys,
  toTextDraftKey,
  type UploadRow,
} from "./database.ts";
import { setListPosition } from "./row-mapping.ts";

/**
 * Of a group that is not this person's any more nothing stays but what they wrote there and did not send: it can be
 * read, copied and thrown away. What was on its way when the group went may be in the log: the server is asked under
 * the same client id. Nothing else is ever sent.
 */

const isUploadPending = ({ state }: UploadRow): boolean => state !== "failed" && state !== "cancelled";

/** Of what waits for its file the server has nothing yet. */
export const isAwaitingUpload = ({ state }: OutboxRow): boolean => state === "awaiting";

/**
 * Within a transaction over the outbox and the uploads: these messages to a group that is gone, or to somebody whose
 * account is, do not go out, nor do their files. `error` is what the server would have said.
 */
export const failUnsentMessages = async (
  store: LocalStore,
  conversation: ConversationId,
  isMeant: (row: OutboxRow) => boolean,
  error: ErrorCode = "conversation_not_found",
): Promise<void> => {
  const files = new Set<Uuid>();
  await store
    .queryUnsent(conversation)
    .filter(isMeant)
    .modify((row) => {
      const file = row.source ? undefined : findAttachment(row.body)?.file;
      if (file !== undefined) files.add(file);
      if (row.state !== "failed") Object.assign(row, { state: "failed", error });
    });
  for (const file of files) {
    // It may be on its way to others as well.
    const isWanted = await store
      .queryUnsentByFile(file)
      .filter(({ state }) => state !== "failed")
      .first();
    if (!isWanted) await store.uploads.where("file").equals(file).filter(isUploadPending).modify({ state: "failed" });
  }
};

/** Within a transaction over `meta` and the recordings: whether something was typed, chosen or recorded there and not sent. */
const hasDraftContent = async (store: LocalStore, conversation: ConversationId): Promise<boolean> =>
  (await store.meta
    .where("key")
    .anyOf(toTextDraftKey(conversation), ...toDraftSlotKeys(conversation))
    .count()) > 0 || (await store.recordings.get(conversation)) !== undefined;

/** Within a transaction over the outbox, `meta` and the recordings: where a row stands in the list, given what is unsent in it. */
export const updateListPosition = async (store: LocalStore, row: LocalConversationRow): Promise<void> => {
  const newest = await store.queryUnsent(row.id).last();
  setListPosition(row, newest?.createdAt, row.gone && (await hasDraftContent(store, row.id)));
};

/**
 * Within a transaction over what is being sent and the recordings: forgets an unsent message, and its file when no other
 * names it.
 */
export const removeUnsentMessage = async (
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
 * What is typed, chosen or recorded comes or goes: of what is gone it is what keeps it in the list, so that one is never
 * written without the other. `tables` are what else is changed.
 */
export const changeDraft = <T>(
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
