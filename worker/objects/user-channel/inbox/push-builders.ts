import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { InboxRow } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";
import type { SocketBase } from "#contract/wire/codec.ts";
import { encodeServerFrame, type ServerFrame } from "#contract/wire/server-frames.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import type { QueuedMessage, SentMessage } from "#worker/objects/user-channel/commands/send-queue.ts";
import {
  toAckFrame,
  toMessagesPush,
  toOwnReceiptsFrame,
  toPeerReceiptsFrame,
  toRevisionsPush,
} from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { SocketPush, SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import { toInboxRow } from "./changes-query.ts";
import type { InboxEntry, NoticeMerge } from "./inbox-merge.ts";
import { isNoticeFor } from "./security-notices.ts";

/** A message that this person sent through this object, with its position. */
export type OwnMessage = { outgoing: QueuedMessage<ClientSocket>; ack: SentMessage };

/** Combined merges of notices that arrived together for one conversation. */
export type EntryUpdate = Pick<
  NoticeMerge,
  "entry" | "newMessages" | "revised" | "needsFullRow" | "isOwnReadStateChanged" | "isPeerReadStateChanged"
> & {
  ownMessages: readonly OwnMessage[];
  /** Author of the newest message, if known. */
  author: Uuid | undefined;
};

/** Whether an update brings unread messages. A full row brings them without their content. */
export const hasNewUnread = ({ entry, newMessages }: EntryUpdate, stored: InboxEntry | undefined): boolean =>
  entry.unread > 0 &&
  (newMessages.some(countsAsUnread) ||
    (newMessages.length === 0 && entry.head > (stored?.head ?? 0) && entry.unread > (stored?.unread ?? 0)));

/** Seqs of the messages that an update shows as deleted. */
export const listDeleted = ({ revised }: EntryUpdate): number[] =>
  revised?.messages.flatMap(({ seq, body }) => (body.type === "deleted" ? [seq] : [])) ?? [];

/** Adds the merge of a notice to an update. */
export const addMerge = (
  update: EntryUpdate | undefined,
  merge: NoticeMerge,
  { head, author }: ConversationNotice,
  ownMessages: readonly OwnMessage[],
): EntryUpdate => ({
  entry: merge.entry,
  newMessages: [...(update?.newMessages ?? []), ...merge.newMessages],
  ownMessages: [...(update?.ownMessages ?? []), ...ownMessages],
  revised: merge.revised,
  needsFullRow: merge.needsFullRow,
  isOwnReadStateChanged: merge.isOwnReadStateChanged || (update?.isOwnReadStateChanged ?? false),
  isPeerReadStateChanged: merge.isPeerReadStateChanged || (update?.isPeerReadStateChanged ?? false),
  author: head === merge.entry.head ? author : undefined,
});

/** Builds the push of one change for a socket. */
export type PushBuilder = (counter: number, socket: ClientSocket, base: SocketBase) => SocketPush;

const toSmallPush = (frame: ServerFrame, base: SocketBase): SocketPush => ({
  frame: encodeServerFrame(frame, base),
  messages: 0,
});

/** Caches the last result, since sockets with the same base get the same bytes. */
const cachePerBase = <T>(
  make: (counter: number, base: SocketBase) => T,
): ((counter: number, base: SocketBase) => T) => {
  let last: { counter: number; base: SocketBase; made: T } | undefined;
  return (counter, base) => {
    const isSame = last?.counter === counter && last.base.counter === base.counter && last.base.now === base.now;
    if (!last || !isSame) last = { counter, base, made: make(counter, base) };
    return last.made;
  };
};

/** Push that is the same for every socket. */
const toSharedPush = (toPush: (counter: number, base: SocketBase) => SocketPush): PushBuilder => {
  const push = cachePerBase(toPush);
  return (counter, _socket, base) => push(counter, base);
};

/** Push of a frame that is the same for every socket. */
export const toUniformPush = (toFrame: (counter: number) => ServerFrame): PushBuilder =>
  toSharedPush((counter, base) => toSmallPush(toFrame(counter), base));

/** Push of a whole row. */
export const toRowPush = (row: InboxRow): PushBuilder => toUniformPush((counter) => ({ type: "row", counter, row }));

/** Push of a security notice. Sockets of the session that caused it receive only the change number. */
export const toSecurityNoticePush = (notice: SecurityNotice): PushBuilder => {
  const toFullPush = cachePerBase((counter, base) => toSmallPush({ type: "notice", counter, notice }, base));
  return (counter, { state }, base) =>
    isNoticeFor(notice, state?.session)
      ? toFullPush(counter, base)
      : toSmallPush({ type: "notice", counter, notice: null }, base);
};

/** Push of new messages. A socket that sent some of them receives acknowledgements for those. */
const toNewMessagesPush = (row: InboxRow, newMessages: Message[], ownMessages: readonly OwnMessage[]): PushBuilder => {
  const cids = new Set(newMessages.map(({ cid }) => cid));
  const stored = ownMessages.filter(({ outgoing }) => outgoing.source && cids.has(outgoing.cid));
  const bySource = Map.groupBy(stored, ({ outgoing }) => outgoing.source?.id);
  const toWholePush = cachePerBase((counter, base) => toMessagesPush(counter, row, newMessages, [], base));
  return (counter, socket, base) => {
    const acks = bySource.get(socket.id);
    if (!acks) return toWholePush(counter, base);
    const ackedCids = new Set(acks.map(({ outgoing }) => outgoing.cid as string | undefined));
    const others = newMessages.filter(({ cid }) => !ackedCids.has(cid));
    return others.length > 0
      ? toMessagesPush(counter, row, others, acks, base)
      : toSmallPush(toAckFrame(counter, acks), base);
  };
};

/** Acknowledges messages that were in the row before, under the current counter. */
export const acknowledgeAgain = (
  sockets: Pick<SocketRegistry, "sendFrame">,
  counter: number,
  ownMessages: readonly OwnMessage[],
): void => {
  for (const socket of new Set(ownMessages.map(({ outgoing }) => outgoing.source))) {
    const sent = ownMessages.filter(({ outgoing }) => outgoing.source === socket);
    if (socket?.state) sockets.sendFrame(socket, toAckFrame(counter, sent));
  }
};

/** Pushes for the changes of a row, one number each. */
export const listPushes = ({
  entry,
  newMessages,
  ownMessages,
  revised,
  needsFullRow,
  isOwnReadStateChanged,
  isPeerReadStateChanged,
}: EntryUpdate): PushBuilder[] => {
  const row = toInboxRow(entry);
  const { handle: target, revision } = row;
  const changes = newMessages.length > 0 ? [toNewMessagesPush(row, newMessages, ownMessages)] : [];
  if (revised?.reactions) {
    // Of these messages nothing else changed.
    const { since, reactions: changed } = revised;
    changes.push(toUniformPush((counter) => ({ type: "reactions", counter, target, since, revision, changed })));
  } else if (revised) changes.push(toSharedPush((counter, base) => toRevisionsPush(counter, row, revised, base)));
  if (needsFullRow) return [...changes, toRowPush(row)];
  if (isOwnReadStateChanged) changes.push(toUniformPush((counter) => toOwnReceiptsFrame(counter, entry)));
  if (isPeerReadStateChanged) changes.push(toUniformPush((counter) => toPeerReceiptsFrame(counter, row)));
  return changes;
};
