import type { CommandResults } from "#contract/wire/commands.ts";
import type { Ack, ServerFrameOf } from "#contract/wire/server-frames.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";

export type ResultFrame = ServerFrameOf<"changes" | "page" | "call" | "presence" | "search" | "revisions" | "done">;
/** Frame of a change of the inbox: those with a change number and without a ref. */
export type ChangeFrame = ServerFrameOf<
  | "liveText"
  | "liveEdit"
  | "acknowledgement"
  | "messages"
  | "row"
  | "peerRead"
  | "ownRead"
  | "person"
  | "head"
  | "revised"
  | "reactions"
  | "settings"
  | "notice"
  | "draft"
>;

/** Result of the command that a frame answers. */
export const toCommandResult = (frame: ResultFrame): CommandResults[RequestCommand["type"]] => {
  const { ref: _, ...result } = frame;
  if (result.type === "call") return result.result;
  if (result.type === "done") return { passed: true, revision: result.revision ?? 0 };
  const { type: __, ...content } = result;
  return content;
};

type SentRefs = ReadonlyMap<number, { cid: string; conversation: string }>;

type SentChange = Extract<ServerChange, { type: "sent" }>;

const toSentChanges = (acks: readonly Ack[], refs: SentRefs): SentChange[] =>
  acks.flatMap(({ ref, seq, at }) => {
    const sent = refs.get(ref);
    return sent ? [{ type: "sent", ...sent, seq, at }] : [];
  });

/** New messages, with own messages of this device inserted at their sequence numbers. */
const toMessageChanges = (
  { target, messages, acks = [] }: ServerFrameOf<"messages">,
  refs: SentRefs,
): ServerChange[] => {
  const later = [...messages];
  const changes: ServerChange[] = [];
  for (const sent of toSentChanges(acks, refs)) {
    const before = later.filter(({ seq }) => seq < sent.seq);
    if (before.length > 0) changes.push({ type: "messages", target, messages: later.splice(0, before.length) });
    changes.push(sent);
  }
  return later.length > 0 ? [...changes, { type: "messages", target, messages: later }] : changes;
};

/** Refs of this device's sent messages that a frame acknowledges. */
export const listRefs = (frame: ChangeFrame): number[] =>
  "acks" in frame ? (frame.acks ?? []).map(({ ref }) => ref) : [];

/** Changes that a frame brings, except that of the counter. */
export const toServerChanges = (frame: ChangeFrame, refs: SentRefs): ServerChange[] => {
  switch (frame.type) {
    case "acknowledgement":
      return toSentChanges(frame.acks, refs);
    case "messages":
      return toMessageChanges(frame, refs);
    case "notice":
      return frame.notice ? [{ type: "notice", notice: frame.notice }] : [];
    case "draft": {
      const { type, counter: change, target, before, base = 0, at = 0, text, reply } = frame;
      return [{ type, target, before, change, ...(text === undefined ? {} : { content: { base, at, text, reply } }) }];
    }
    case "reactions": {
      const { changed: reactions, ...place } = frame;
      return [{ ...place, type: "revised", messages: [], reactions }];
    }
    default:
      return [frame];
  }
};

/** Messages in a frame that count against the socket's credit. */
export const countMessages = (frame: ChangeFrame): number => {
  if (frame.type === "messages") return frame.messages.length;
  return frame.type === "liveText" || frame.type === "liveEdit" ? 1 : 0;
};
