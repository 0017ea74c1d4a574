import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { CallResult } from "#contract/calls/call.ts";
import type { InboxRow } from "#contract/conversations.ts";
import { getEditNumber, isEditableBody } from "#contract/messages/body.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Relation } from "#contract/people.ts";
import type { SyncedDraft } from "#contract/settings/drafts.ts";
import type { Presence, VersionedSettings } from "#contract/settings/settings.ts";
import type { ChangesResult, Command, CommandResults } from "#contract/wire/commands.ts";
import { toWireBody, toWireMessage, toWirePerson, toWireRow } from "#contract/wire/compact-encoding.ts";
import * as serverFrame from "#contract/wire/server-frame-types.ts";
import {
  encodeFrame,
  encodeLiveEdit,
  encodeLiveText,
  type LiveEdit,
  type ServerFrame,
  type SocketBase,
} from "#contract/wire/server-frames.ts";
import type { SentMessage } from "#worker/objects/user-channel/commands/send-queue.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketPush } from "./socket-registry.ts";

/** The text that fits the short form (`LiveText`): the only new message, written by the peer of a private chat. */
const findSoleText = (row: InboxRow, messages: readonly Message[]): { message: Message; text: string } | undefined => {
  const [message] = messages;
  if (row.kind !== "private" || messages.length !== 1 || message?.cid !== undefined) return undefined;
  const text = message && toWireBody(message.body);
  return message && typeof text === "string" ? { message, text } : undefined;
};

// Frames of changes: `counter` is that of the change, `base` that of the socket.

/** Push of new messages. `acks` are the positions of those that this socket sent. */
export const toMessagesPush = (
  counter: number,
  row: InboxRow,
  messages: readonly Message[],
  acks: readonly OwnAck[],
  base: SocketBase,
): SocketPush => {
  const position = { counter: counter - base.counter, handle: row.handle };
  const text = findSoleText(row, messages);
  const behindFrame: ServerFrame = [serverFrame.head, position.counter, position.handle, row.head];
  if (text && acks.length === 0) {
    const frame = encodeLiveText({
      ...position,
      seq: text.message.seq,
      at: text.message.at - base.now,
      text: text.text,
    });
    return { frame, messages: 1, behind: [behindFrame] };
  }
  const wire = messages.map((message) => toWireMessage(message, base.now));
  if (acks.length === 0) {
    return {
      frame: encodeFrame([serverFrame.messages, position.counter, position.handle, wire]),
      messages: wire.length,
      behind: [behindFrame],
    };
  }
  const frame = encodeFrame([serverFrame.messages, position.counter, position.handle, wire, toAckFields(acks, base)]);
  return { frame, messages: wire.length, behind: [behindFrame, toAckFrame(counter, acks, base)] };
};

type OwnAck = { outgoing: { ref: number }; ack: SentMessage };
const toAckFields = (acks: readonly OwnAck[], base: SocketBase): number[] =>
  acks.flatMap(({ outgoing, ack }) => [outgoing.ref, ack.seq, ack.at - base.now]);

export const toAckFrame = (counter: number, acks: readonly OwnAck[], base: SocketBase): ServerFrame => [
  serverFrame.acknowledgement,
  counter - base.counter,
  ...toAckFields(acks, base),
];

export const toRowFrame = (counter: number, row: InboxRow, base: SocketBase): ServerFrame => [
  serverFrame.row,
  counter - base.counter,
  toWireRow(row, base.now),
];

export const toOwnReceiptsFrame = (counter: number, row: InboxEntry, base: SocketBase): ServerFrame => [
  serverFrame.ownReceipts,
  counter - base.counter,
  row.handle,
  row.delivered,
  row.read,
  row.unread,
  Math.max(row.countedUpTo, row.head),
];

export const toPeerReceiptsFrame = (counter: number, row: InboxRow, base: SocketBase): ServerFrame => [
  serverFrame.peerReceipts,
  counter - base.counter,
  row.handle,
  row.othersDelivered,
  row.othersRead,
];

/**
 * The edit that fits the short form (`LiveEdit`): the only change since the revision before. In a repeated notice the
 * last change may be another one of an edited message, such as a reaction.
 */
const findSoleEdit = (
  { revision }: InboxRow,
  { since, messages, isRepeated }: RevisedMessages,
): Pick<LiveEdit, "seq" | "revision" | "edited" | "text"> | undefined => {
  const [message] = messages;
  if (isRepeated || messages.length !== 1 || since !== revision - 1 || !message || message.held) return undefined;
  const { seq, body } = message;
  const edited = getEditNumber(body);
  if (edited === 0 || !isEditableBody(body) || findMentions(body).length > 0) return undefined;
  return { seq, revision, edited, text: body.text ?? "" };
};

type RevisedMessages = { since: number; messages: readonly Message[]; isRepeated?: boolean };

/** Push of changed messages. */
export const toRevisionsPush = (
  counter: number,
  row: InboxRow,
  revised: RevisedMessages,
  base: SocketBase,
): SocketPush => {
  const edit = findSoleEdit(row, revised);
  const position = { counter: counter - base.counter, handle: row.handle };
  if (edit) return { frame: encodeLiveEdit({ ...position, ...edit }), messages: 1 };
  const wire = revised.messages.map((message) => toWireMessage(message, base.now));
  const frame = [serverFrame.revised, position.counter, position.handle, revised.since, row.revision, wire] as const;
  return { frame: encodeFrame([...frame]), messages: 0 };
};

export const toPersonFrame = (counter: number, relation: Relation, base: SocketBase): ServerFrame => [
  serverFrame.person,
  counter - base.counter,
  toWirePerson(relation),
];

export const toSettingsFrame = (counter: number, settings: VersionedSettings, base: SocketBase): ServerFrame => [
  serverFrame.settings,
  counter - base.counter,
  settings,
];

export const toSecurityNoticeFrame = (
  counter: number,
  notice: SecurityNotice | null,
  base: SocketBase,
): ServerFrame => [serverFrame.securityNotice, counter - base.counter, notice];

/** Frame of a changed draft; `isOwn`: for its writer's device. `before`: number of the last change of any draft. */
export const toDraftFrame = (
  { change, base, at, text, reply }: Omit<SyncedDraft, "conversation">,
  { handle, before, isOwn }: { handle: number; before: number; isOwn: boolean },
  socketBase: SocketBase,
): ServerFrame => {
  const fields = [serverFrame.draft, change - socketBase.counter, handle, before] as const;
  if (isOwn) return [...fields];
  const content = [base, at - socketBase.now, text] as const;
  return reply === undefined ? [...fields, ...content] : [...fields, ...content, reply];
};

/** Fields shared by a welcome and an answer to a request for changes. */
export const toChangesFields = (result: ChangesResult, base: Pick<SocketBase, "now">) =>
  [
    result.epoch,
    result.counter,
    result.now,
    result.rows.map((row) => toWireRow(row, base.now)),
    result.people.map(toWirePerson),
    result.calls,
    result.before,
    result.settings,
    result.notices,
    result.since,
    result.draftHead,
  ] as const;

/** Answer to a command that arrived as a frame. */
export const toAnswerFrame = (
  type: Exclude<Command["type"], "send" | "multicast" | "mark">,
  ref: number,
  result: CommandResults[typeof type],
  base: SocketBase,
): { frame: ServerFrame; messages: number } => {
  if (type === "dial" || type === "answer" || type === "hangUp" || type === "standing") {
    return { frame: [serverFrame.call, ref, result as CallResult], messages: 0 };
  }
  if (
    type === "beat" ||
    type === "signal" ||
    type === "clearHistory" ||
    type === "deleteForEveryone" ||
    type === "deletePending" ||
    type === "editMessage" ||
    type === "pinMessage" ||
    type === "mute" ||
    type === "setConversationFlags"
  )
    return { frame: [serverFrame.done, ref], messages: 0 };
  if (type === "react" || type === "setMessageFlags" || type === "setDraft")
    return { frame: [serverFrame.done, ref, (result as CommandResults[typeof type]).revision], messages: 0 };
  if (type === "changes") {
    return {
      frame: [serverFrame.changes, ref, ...toChangesFields(result as CommandResults["changes"], base)],
      messages: 0,
    };
  }
  if (type === "presence") {
    const { here, seen_at } = result as Presence;
    return {
      frame: [serverFrame.presence, ref, here ? 1 : 0, seen_at === null ? null : seen_at - base.now],
      messages: 0,
    };
  }
  if (type === "page") {
    const { epoch, head, messages, more, anchor } = result as CommandResults["page"];
    const wire = messages.map((message) => toWireMessage(message, base.now));
    const anchorAt = anchor === null ? null : anchor - base.now;
    return { frame: [serverFrame.page, ref, epoch, head, wire, more, anchorAt], messages: messages.length };
  }
  if (type === "revised") {
    const { epoch, revision, messages, more } = result as CommandResults["revised"];
    const wire = messages.map((message) => toWireMessage(message, base.now));
    return { frame: [serverFrame.revisions, ref, epoch, revision, wire, more], messages: 0 };
  }
  const { messages, before } = result as CommandResults["search"];
  const wire = messages.map((message) => toWireMessage(message, base.now));
  return { frame: [serverFrame.searchResults, ref, wire, before], messages: messages.length };
};
