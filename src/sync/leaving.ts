import { attachmentOf } from "../../contract/conversations";
import type { ConversationId, Uuid } from "../../contract/ids";
import { placeInList } from "./rows";
import { type ConversationRow, draftKey, type Store, type UploadRow } from "./store";

/**
 * Of a group that is not this person's any more nothing stays but what they wrote there and did not send: it can be
 * read, copied and thrown away, and is never sent.
 */

const isUnfinished = ({ state }: UploadRow): boolean => state !== "failed" && state !== "cancelled";

/** Within a transaction over the outbox and the uploads: nothing that is unsent there goes out from here on. */
export const failUnsent = async (store: Store, conversation: ConversationId): Promise<void> => {
  const files = new Set<Uuid>();
  await store.unsent(conversation).modify((row) => {
    const file = row.source ? undefined : attachmentOf(row.body)?.file;
    if (file !== undefined) files.add(file);
    if (row.state !== "failed") Object.assign(row, { state: "failed", error: "conversation_not_found" });
  });
  for (const file of files) {
    // It may be on its way to others as well.
    const isWanted = await store
      .naming(file)
      .filter(({ state }) => state !== "failed")
      .first();
    if (!isWanted) await store.uploads.where("file").equals(file).filter(isUnfinished).modify({ state: "failed" });
  }
};

/** Within a transaction over the outbox and `meta`: where a row stands in the list, given what is unsent in it. */
export const relist = async (store: Store, row: ConversationRow): Promise<void> => {
  const newest = await store.unsent(row.id).last();
  const hasDraft = row.gone && (await store.meta.get(draftKey(row.id))) !== undefined;
  placeInList(row, newest?.createdAt, hasDraft);
};

/** A draft came or went: of what is gone it is what keeps it in the list. */
export const relistGone = async (store: Store, conversation: ConversationId): Promise<void> => {
  if (!(await store.conversations.get(conversation))?.gone) return;
  await store.transaction("rw", [store.conversations, store.outbox, store.meta], async () => {
    const row = await store.conversations.get(conversation);
    if (!row?.gone) return;
    await relist(store, row);
    await store.conversations.put(row);
  });
};
