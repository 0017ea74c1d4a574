import { type ConversationId, packUuid, unpackUuid } from "#contract/ids.ts";
import type { Body, ForwardSource } from "#contract/messages/body.ts";
import * as clientFrame from "./client-frame-types.ts";
import type { ClientFrame, SentBody } from "./client-frames.ts";
import type { Command, CommandOf } from "./commands.ts";
import { fromWireBody, toWireBody, type WireBody } from "./compact-encoding.ts";

/** Frame of a command. `mark` has no answer of its own: the resulting change of the own receipts replaces it. */
export const toClientFrame = (
  command: Exclude<Command, { type: "send" | "multicast" }>,
  ref: number,
  conversation: number | ConversationId,
): ClientFrame => {
  switch (command.type) {
    case "mark":
      return [clientFrame.receipts, conversation, command.delivered, command.read];
    case "clearHistory":
      return [clientFrame.clearHistory, ref, conversation, command.upTo, command.keep ? 1 : 0];
    case "deleteForEveryone":
      return [clientFrame.deleteMessage, ref, conversation, command.seq];
    case "deletePending":
      return [clientFrame.deleteMessage, ref, conversation, packUuid(command.cid)];
    case "editMessage": {
      const target = typeof command.target === "number" ? command.target : packUuid(command.target);
      const frame = [clientFrame.editMessage, ref, conversation, target, command.text] as const;
      return command.edit === 0 ? [...frame] : [...frame, command.edit];
    }
    case "react":
      return command.emoji === null
        ? [clientFrame.react, ref, conversation, command.seq]
        : [clientFrame.react, ref, conversation, command.seq, command.emoji];
    case "pinMessage":
      return [clientFrame.pin, ref, conversation, command.seq, command.pinned ? 1 : 0];
    case "revised":
      return [clientFrame.revisions, ref, conversation, command.since];
    case "mute":
      if (command.muted && command.exceptMentions)
        return [clientFrame.mute, ref, conversation, 1, command.seconds ?? null, 1];
      return command.muted && command.seconds !== undefined
        ? [clientFrame.mute, ref, conversation, 1, command.seconds]
        : [clientFrame.mute, ref, conversation, command.muted ? 1 : 0];
    case "setConversationFlags": {
      const { type: _type, conversation: _conversation, ...flags } = command;
      return [clientFrame.flags, ref, conversation, flags];
    }
    case "setMessageFlags": {
      const { type: _type, conversation: _conversation, seq, ...flags } = command;
      return [clientFrame.messageFlags, ref, conversation, seq, flags];
    }
    case "setDraft": {
      const frame = [clientFrame.draft, ref, conversation, command.base, command.ago, command.text] as const;
      return command.reply === undefined ? [...frame] : [...frame, command.reply];
    }
    case "page":
      return toPageFrame(command, ref, conversation);
    case "search": {
      const frame = [clientFrame.search, ref, conversation, command.query, command.before] as const;
      return command.filter ? [...frame, command.filter] : [...frame];
    }
    case "changes":
      return [clientFrame.changes, ref, command.since, command.before ?? null];
    case "presence":
      return [clientFrame.presence, ref, conversation];
    default: {
      const { conversation: _, ...callCommand } = command;
      return [clientFrame.call, ref, conversation, callCommand];
    }
  }
};

const toPageFrame = (
  { direction, seq, limit, anchor }: CommandOf<"page">,
  ref: number,
  conversation: number | ConversationId,
): ClientFrame => {
  const frame = [clientFrame.page, ref, conversation, direction === "after" ? "a" : "b", seq, limit] as const;
  return anchor === undefined ? [...frame] : [...frame, anchor];
};

export const toSendFrame = (
  ref: number,
  conversation: number | ConversationId,
  message: { cid: string; body: Body; source?: ForwardSource | undefined },
): ClientFrame => {
  const frame = [
    clientFrame.send,
    ref,
    conversation,
    packUuid(message.cid),
    toWireBody(message.body) as SentBody,
  ] as const;
  const { source } = message;
  return source ? [...frame, [source.conversation, source.seq]] : [...frame];
};

/** Frame of a multicast: the refs of its messages start with `ref`. */
export const toMulticastFrame = (ref: number, { body, source, to }: CommandOf<"multicast">): ClientFrame => [
  clientFrame.multicast,
  ref,
  toWireBody(body) as SentBody,
  source ? [source.conversation, source.seq] : null,
  to.map(({ conversation, cid }) => [conversation, packUuid(cid)]),
];

/**
 * Converts a frame to a command, still to be validated by its schema. Undefined for frames that are not commands.
 * `idOf` maps a handle to a conversation id; for an unknown handle it returns an id that no schema accepts.
 */
export const toCommand = (
  frame: ClientFrame,
  conversation: ConversationId,
  idOf: (conversation: number | ConversationId) => ConversationId = String,
): unknown => {
  const sourceOf = (source: readonly [number | ConversationId, number] | null | undefined) =>
    source ? { source: { conversation: idOf(source[0]), seq: source[1] } } : {};
  switch (frame[0]) {
    case clientFrame.send: {
      const body = fromWireBody(frame[4] as WireBody);
      return { type: "send", conversation, messages: [{ cid: unpackUuid(frame[3]), body, ...sourceOf(frame[5]) }] };
    }
    case clientFrame.multicast: {
      const to = frame[4].map(([target, cid]) => ({ conversation: idOf(target), cid: unpackUuid(cid) }));
      return { type: "multicast", body: fromWireBody(frame[2] as WireBody), ...sourceOf(frame[3]), to };
    }
    case clientFrame.deleteMessage: {
      const target = frame[3];
      return typeof target === "number"
        ? { type: "deleteForEveryone", conversation, seq: target }
        : { type: "deletePending", conversation, cid: unpackUuid(target) };
    }
    case clientFrame.editMessage: {
      const [, , , target, text, edit = 0] = frame;
      const named = typeof target === "number" ? target : unpackUuid(target);
      return { type: "editMessage", conversation, target: named, edit, text };
    }
    case clientFrame.react:
      return { type: "react", conversation, seq: frame[3], emoji: frame[4] ?? null };
    case clientFrame.pin:
      return { type: "pinMessage", conversation, seq: frame[3], pinned: frame[4] === 1 };
    case clientFrame.revisions:
      return { type: "revised", conversation, since: frame[3] };
    case clientFrame.mute:
      return {
        type: "mute",
        conversation,
        muted: frame[3] === 1,
        ...((frame[4] ?? undefined) === undefined ? {} : { seconds: frame[4] }),
        ...(frame[5] === undefined ? {} : { exceptMentions: true }),
      };
    case clientFrame.flags:
      return { ...frame[3], type: "setConversationFlags", conversation };
    case clientFrame.messageFlags:
      return { ...frame[4], type: "setMessageFlags", conversation, seq: frame[3] };
    case clientFrame.draft: {
      const [, , , base, ago, text, reply] = frame;
      return { type: "setDraft", conversation, base, ago, text, ...(reply === undefined ? {} : { reply }) };
    }
    case clientFrame.receipts:
      return { type: "mark", conversation, delivered: frame[2], read: frame[3] };
    case clientFrame.page: {
      const direction = frame[3] === "a" ? "after" : "before";
      const anchor = frame[6] === undefined ? {} : { anchor: frame[6] };
      return { type: "page", conversation, direction, seq: frame[4], limit: frame[5], ...anchor };
    }
    case clientFrame.search: {
      const filter = frame[5] === undefined ? {} : { filter: frame[5] };
      return { type: "search", conversation, query: frame[3], before: frame[4], ...filter };
    }
    case clientFrame.changes:
      return { type: "changes", since: frame[2], ...(frame[3] === null ? {} : { before: frame[3] }) };
    case clientFrame.presence:
      return { type: "presence", conversation };
    case clientFrame.call:
      return { ...frame[3], conversation };
    case clientFrame.clearHistory:
      return { type: "clearHistory", conversation, upTo: frame[3], keep: frame[4] === 1 };
    default:
      return undefined;
  }
};
