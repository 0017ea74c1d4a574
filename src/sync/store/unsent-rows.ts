import type { Table } from "dexie";
import { attachmentOf } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import {
  type ChoicePlace,
  type ConversationRow,
  choiceKeys,
  draftKey,
  type OutboxRow,
  type Store,
  type UploadRow,
} from "./database.ts";
import { placeInList } from "./row-mapping.ts";

/**
 * Of a group that is not this person's any more nothing stays but what they wrote there and did not send: it can be
 * read, copied and thrown away. What was on its way when the group went may be in the log: the server is asked under
 * the same client id. Nothing else is ever sent.
 */

const isUnfinished = ({ state }: UploadRow): boolean => state !== "failed" && state !== "cancelled";

/** Of what waits for its file the server has nothing yet. */
export const isUnasked = ({ state }: OutboxRow): boolean => state === "awaiting";

/**
 * Within a transaction over the outbox and the uploads: these messages to a group that is gone, or to somebody whose
 * account is, do not go out, nor do their files. `error` is what the server would have said.
 */
export const failUnsent = async (
  store: Store,
  conversation: ConversationId,
  isMeant: (row: OutboxRow) => boolean,
  error: ErrorCode = "conversation_not_found",
): Promise<void> => {
  const files = new Set<Uuid>();
  await store
    .unsent(conversation)
    .filter(isMeant)
    .modify((row) => {
      const file = row.source ? undefined : attachmentOf(row.body)?.file;
      if (file !== undefined) files.add(file);
      if (row.state !== "failed") Object.assign(row, { state: "failed", error });
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

/** Within a transaction over `meta` and the recordings: whether something was typed, chosen or recorded there and not sent. */
const hasBegun = async (store: Store, conversation: ConversationId): Promise<boolean> =>
  (await store.meta
    .where("key")
    .anyOf(draftKey(conversation), ...choiceKeys(conversation))
    .count()) > 0 || (await store.recordings.get(conversation)) !== undefined;

/** Within a transaction over the outbox, `meta` and the recordings: where a row stands in the list, given what is unsent in it. */
export const relist = async (store: Store, row: ConversationRow): Promise<void> => {
  const newest = await store.unsent(row.id).last();
  placeInList(row, newest?.createdAt, row.gone && (await hasBegun(store, row.id)));
};

/**
 * Within a transaction over what is being sent and the recordings: forgets an unsent message, and its file when no other
 * names it.
 */
export const removeUnsent = async (store: Store, { cid, conversation, body, source }: OutboxRow): Promise<void> => {
  await store.outbox.delete(cid);
  const file = source ? undefined : attachmentOf(body)?.file;
  if (file !== undefined && (await store.naming(file).count()) === 0) {
    await store.uploads.update(file, { state: "cancelled" });
    await Promise.all([store.files.delete(file), store.blobs.delete(file)]);
  }
  const row = await store.conversations.get(conversation);
  if (!row) return;
  await relist(store, row);
  await store.conversations.put(row);
};

const relistGone = async (store: Store, conversation: ChoicePlace): Promise<void> => {
  const row = await store.conversations.get(conversation);
  if (!row?.gone) return;
  await relist(store, row);
  await store.conversations.put(row);
};

/**
 * What is typed, chosen or recorded comes or goes: of what is gone it is what keeps it in the list, so that one is never
 * written without the other. `tables` are what else is changed.
 */
export const changeBegun = <T>(
  store: Store,
  conversation: ChoicePlace,
  tables: readonly Table[],
  change: () => Promise<T>,
): Promise<T> =>
  store.transaction("rw", [store.conversations, store.outbox, store.meta, store.recordings, ...tables], async () => {
    const result = await change();
    await relistGone(store, conversation);
    return result;
  });
