import type { InboxRow } from "#contract/conversations.ts";
import { getEditNumber, isEditableBody } from "#contract/messages/body.ts";
import { toMessageKind } from "#contract/messages/kinds.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import type { SyncedDraft } from "#contract/settings/drafts.ts";
import type { SocketBase } from "#contract/wire/codec.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import { type Ack, encodeServerFrame, type ServerFrame, type ServerFrameOf } from "#contract/wire/server-frames.ts";
import type { SentMessage } from "#worker/objects/user-channel/commands/send-queue.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketPush } from "./socket-registry.ts";

/** The text that fits the short form: the only new message, written by the peer of a private chat. */
const findSoleText = (
  row: InboxRow,
  messages: readonly Message[],
): { seq: number; at: number; text: string } | undefined => {
  const [message] = messages;
  if (row.kind !== "private" || messages.length !== 1 || !message || message.cid !== undefined) return undefined;
  const { seq, at, body } = message;
  return body.type === "text" && toMessageKind(body) === "text" ? { seq, at, text: body.text } : undefined;
};

// Frames of changes: `counter` is that of the change, `base` that of the socket.

/** Push of new messages. `acks` are the positions of those that this socket sent. */
export const toMessagesPush = (
  counter: number,
  row: InboxRow,
  messages: Message[],
  acks: readonly OwnAck[],
  base: SocketBase,
): SocketPush => {
  const place = { counter, target: row.handle };
  const behind: ServerFrame = { type: "head", ...place, head: row.head };
  const text = findSoleText(row, messages);
  const [frame, frames]: [ServerFrame, ServerFrame[]] =
    acks.length > 0
      ? [{ type: "messages", ...place, messages, acks: toAcks(acks) }, [behind, toAckFrame(counter, acks)]]
      : [text ? { type: "liveText", ...place, ...text } : { type: "messages", ...place, messages }, [behind]];
  return { frame: encodeServerFrame(frame, base), messages: messages.length, behind: frames };
};

type OwnAck = { outgoing: { ref: number }; ack: SentMessage };
const toAcks = (acks: readonly OwnAck[]): Ack[] =>
  acks.map(({ outgoing: { ref }, ack: { seq, at } }) => ({ ref, seq, at }));

export const toAckFrame = (counter: number, acks: readonly OwnAck[]): ServerFrame => ({
  type: "acknowledgement",
  counter,
  acks: toAcks(acks),
});

export const toOwnReceiptsFrame = (
  counter: number,
  { handle: target, delivered, read, unread, countedUpTo, head }: InboxEntry,
): ServerFrame => ({ type: "ownRead", counter, target, delivered, read, unread, head: Math.max(countedUpTo, head) });

export const toPeerReceiptsFrame = (
  counter: number,
  { handle: target, othersDelivered: delivered, othersRead: read }: InboxRow,
): ServerFrame => ({ type: "peerRead", counter, target, delivered, read });

/**
 * The edit that fits the short form: the only change since the revision before. In a repeated notice the last change
 * may be another one of an edited message, such as a reaction.
 */
const findSoleEdit = (
  { revision }: InboxRow,
  { since, messages, isRepeated }: RevisedMessages,
): Pick<ServerFrameOf<"liveEdit">, "seq" | "edited" | "text"> | undefined => {
  const [message] = messages;
  if (isRepeated || messages.length !== 1 || since !== revision - 1 || !message || message.held) return undefined;
  const { seq, body } = message;
  const edited = getEditNumber(body);
  if (edited === 0 || !isEditableBody(body) || findMentions(body).length > 0) return undefined;
  return { seq, edited, text: body.text ?? "" };
};

type RevisedMessages = { since: number; messages: Message[]; isRepeated?: boolean };

/** Push of changed messages. */
export const toRevisionsPush = (
  counter: number,
  row: InboxRow,
  revised: RevisedMessages,
  base: SocketBase,
): SocketPush => {
  const { since, messages } = revised;
  const place = { counter, target: row.handle, revision: row.revision };
  const edit = findSoleEdit(row, revised);
  return edit
    ? { frame: encodeServerFrame({ type: "liveEdit", ...place, ...edit }, base), messages: 1 }
    : { frame: encodeServerFrame({ type: "revised", ...place, since, messages }, base), messages: 0 };
};

/** Frame of a changed draft; `isOwn`: for its writer's device. `before`: number of the last change of any draft. */
export const toDraftFrame = (
  { change: counter, base, at, text, reply }: Omit<SyncedDraft, "conversation">,
  { handle: target, before, isOwn }: { handle: number; before: number; isOwn: boolean },
): ServerFrame => ({ type: "draft", counter, target, before, ...(isOwn ? {} : { base, at, text, reply }) });

/** Answer to a command that arrived as a frame, and the messages in it. */
export const toAnswerFrame = (
  type: Exclude<Command["type"], "send" | "multicast" | "mark">,
  ref: number,
  result: CommandResults[typeof type],
): { frame: ServerFrame; messages: number } => {
  const resultOf = <T extends typeof type>() => result as CommandResults[T];
  switch (type) {
    case "dial":
    case "answer":
    case "hangUp":
    case "standing":
      return { frame: { type: "call", ref, result: resultOf<typeof type>() }, messages: 0 };
    case "react":
    case "setMessageFlags":
    case "setDraft":
      return { frame: { type: "done", ref, revision: resultOf<typeof type>().revision }, messages: 0 };
    case "changes":
      return { frame: { ...resultOf<typeof type>(), type, ref }, messages: 0 };
    case "presence":
      return { frame: { ...resultOf<typeof type>(), type, ref }, messages: 0 };
    case "page": {
      const page = resultOf<typeof type>();
      return { frame: { ...page, type, ref }, messages: page.messages.length };
    }
    case "search": {
      const found = resultOf<typeof type>();
      return { frame: { ...found, type, ref }, messages: found.messages.length };
    }
    case "revised":
      return { frame: { ...resultOf<typeof type>(), type: "revisions", ref }, messages: 0 };
    default:
      return { frame: { type: "done", ref }, messages: 0 };
  }
};
