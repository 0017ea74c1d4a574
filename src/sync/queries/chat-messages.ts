import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import { type MessageStatus, toMessageStatus } from "#contract/messages/status.ts";
import type { LocalConversationRow, LocalMessageRow } from "#sync/store/database.ts";
import { listDeletedSeqs, readStarredSeqs } from "#sync/store/message-flags.ts";
import { hasOlderOnServer, toMessageKey } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { ChatItem, DisplayedStatus, UploadView } from "#sync/store/view-models.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { edits, type Operation, reactions } from "#sync/unsent/operations.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

/** Status of an own message that the server has. */
export const toStoredStatus = (
  row: LocalConversationRow | undefined,
  seq: number,
  isHeld: boolean | undefined,
): MessageStatus => toMessageStatus(seq, { delivered: row?.othersDelivered ?? 0, read: row?.othersRead ?? 0 }, isHeld);

export const toUnsentStatus = ({ state, sent }: OutboxRow): DisplayedStatus => {
  if (sent) return "sent";
  return state === "failed" ? "failed" : "sending";
};

/** An upload with the bytes that the server has; undefined for a cancelled one. Requires a transaction over `progress`, or none. */
export const readUpload = async (
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  file: Uuid,
): Promise<UploadView | undefined> => {
  const row = unsent.find("uploads", file);
  if (!row || row.state === "cancelled") return undefined;
  return { sent: (await store.progress.get(file))?.sent ?? 0, size: row.size, state: row.state };
};

const toPendingItem = (
  row: OutboxRow,
  upload: UploadView | undefined,
  pending: readonly Operation<"reaction">[],
): ChatItem => ({
  key: row.cid,
  cid: row.cid,
  mine: true,
  at: row.createdAt,
  body: row.body,
  status: toUnsentStatus(row),
  ...(row.error ? { error: row.error } : {}),
  ...(row.replyTo ? { replyTo: row.replyTo } : {}),
  ...toReactionFields(row, pending),
  ...(upload ? { upload } : {}),
});

const toReactionFields = (
  message: { seq?: number; cid?: Uuid | undefined; reactions?: string },
  pending: readonly Operation<"reaction">[],
): Pick<ChatItem, "reactions" | "ownReaction"> => {
  const { reactions: summary } = message;
  const own = pending.find(({ target }) => target === message.seq || target === message.cid);
  return { ...(summary ? { reactions: summary } : {}), ...(own ? { ownReaction: own.emoji } : {}) };
};

export const toChatItem = (
  row: LocalConversationRow | undefined,
  message: LocalMessageRow,
  pending: readonly Operation<"reaction">[] = [],
  starred?: ReadonlySet<number>,
): ChatItem => ({
  key: toMessageKey(message),
  seq: message.seq,
  ...(message.cid ? { cid: message.cid } : {}),
  mine: message.mine === 1,
  sender: message.sender,
  at: message.at,
  body: message.body,
  status: toStoredStatus(row, message.seq, message.held),
  ...toReactionFields(message, pending),
  ...(starred?.has(message.seq) ? { starred: true } : {}),
});

/** The message with the text of its pending edit. */
const showPendingEdit = (item: ChatItem, pending: readonly Operation<"edit">[]): ChatItem => {
  const edit = pending.find(({ target }) => target === item.cid || target === item.seq);
  return edit && !isTombstone(item.body) ? { ...item, body: edit.body, edit: edit.error ?? "sending" } : item;
};

/** Part of a chat as read from the local database. */
export type ChatSnapshot = {
  items: ChatItem[];
  /** More messages are stored than `limit`. */
  hasMoreLocally: boolean;
  hasMoreOnServer: boolean;
  /** Nothing is stored, and there are messages to fetch. */
  isNotLoadedYet: boolean;
};

/**
 * The newest `limit` messages, preceded by the unsent ones. These are listed before the messages are read, so that none
 * is missing; one that is in the log by then is not shown twice, as pending and as sent.
 */
export const readChat = (
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  id: ConversationId,
  limit: number,
): Promise<ChatSnapshot> => {
  const outbox = listUnsent(unsent, id);
  const isHere = ({ conversation }: { conversation: ConversationId }) => conversation === id;
  const [ownReactions, ownEdits] = [reactions.list(unsent).filter(isHere), edits.list(unsent).filter(isHere)];
  const deleted = listDeletedSeqs(unsent, id);
  return store.transaction("r", [store.conversations, store.messages, store.progress, store.meta], async () => {
    // All at once: Dexie can lose the transaction while nested async functions return one after the other.
    const [row, starred] = await Promise.all([store.conversations.get(id), readStarredSeqs({ store, unsent }, id)]);
    const uploads = new Map<string, UploadView | undefined>();
    for (const { file } of outbox.flatMap(({ body }) => findAttachment(body) ?? []))
      uploads.set(file, await readUpload({ store, unsent }, file));
    const messages = await store
      .queryMessages(id, Math.max(row?.storedFrom ?? 1, 1))
      .reverse()
      .limit(limit + 1)
      .toArray();
    const hasMoreHere = messages.length > limit;
    // Beyond a gap only own messages are shown: they were acknowledged and keep their position.
    const visible = messages
      .slice(0, limit)
      .filter(({ seq, mine, body }) => (seq <= (row?.storedTo ?? 0) || mine === 1) && body.type !== "withheld");
    const logged = new Set(messages.map(({ cid }) => cid));
    const pending = outbox
      .filter(({ cid }) => !logged.has(cid))
      .reverse()
      .map((message) => toPendingItem(message, uploads.get(findAttachment(message.body)?.file ?? ""), ownReactions));
    return {
      items: [
        ...pending,
        ...visible
          .filter(({ seq }) => !deleted.has(seq))
          .map((message) => toChatItem(row, message, ownReactions, starred)),
      ].map((item) => showPendingEdit(item, ownEdits)),
      hasMoreLocally: hasMoreHere,
      hasMoreOnServer: row !== undefined && hasOlderOnServer(row),
      isNotLoadedYet:
        row !== undefined && row.storedFrom > row.storedTo && row.head > row.hidden && visible.length === 0,
    };
  });
};
