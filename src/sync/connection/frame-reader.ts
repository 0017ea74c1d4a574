import type {
  ChangesResult,
  CommandResults,
  PageResult,
  RevisedResult,
  SearchResult,
} from "#contract/wire/commands.ts";
import { fromWireMessage, fromWirePerson, fromWireRow } from "#contract/wire/compact-encoding.ts";
import * as serverFrame from "#contract/wire/server-frame-types.ts";
import type { LiveEdit, LiveText, ServerFrame, SocketBase } from "#contract/wire/server-frames.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";

/** Base values of the counters and times in frames, and the epoch of the inbox. */
export type FrameBase = SocketBase & { epoch: string };

type ServerFrameOf<T extends keyof typeof serverFrame> = Extract<
  ServerFrame,
  readonly [(typeof serverFrame)[T], ...unknown[]]
>;
export type WelcomeFrame = ServerFrameOf<"welcome">;
export type ResultFrame = ServerFrameOf<
  "changes" | "page" | "call" | "presence" | "searchResults" | "revisions" | "done"
>;
type EphemeralFrame = ServerFrameOf<"typing" | "presenceVisibility" | "postDeleted" | "pushKeyChanged">;
export type ChangeFrame = Exclude<
  ServerFrame,
  ResultFrame | EphemeralFrame | ServerFrameOf<"welcome" | "refusal" | "error">
>;

/** Frame of a change, in its short form or as a list. */
export type AnyChangeFrame = LiveText | LiveEdit | ChangeFrame;

/** Types of frames that carry an inbox change. */
const changeTypes: readonly ServerFrame[0][] = [
  serverFrame.acknowledgement,
  serverFrame.messages,
  serverFrame.row,
  serverFrame.peerReceipts,
  serverFrame.ownReceipts,
  serverFrame.person,
  serverFrame.head,
  serverFrame.revised,
  serverFrame.reactions,
  serverFrame.settings,
  serverFrame.securityNotice,
  serverFrame.draft,
] satisfies ChangeFrame[0][];
export const isChangeFrame = (frame: ServerFrame): frame is ChangeFrame => changeTypes.includes(frame[0]);

export const toChangesResult = (
  [epoch, counter, now, rows, people, calls, before, settings, notices, since, draftHead]: [
    ...(WelcomeFrame extends readonly [unknown, unknown, ...infer R] ? R : never),
  ],
  base: FrameBase,
): ChangesResult => ({
  epoch,
  counter,
  since,
  now,
  rows: rows.map((row) => fromWireRow(row, base.now)),
  people: people.map(fromWirePerson),
  calls,
  before,
  settings,
  draftHead,
  notices,
});

const toPageResult = (
  [, , epoch, head, messages, more, anchor]: ServerFrameOf<"page">,
  base: FrameBase,
): PageResult => ({
  epoch,
  head,
  messages: messages.map((message) => fromWireMessage(message, base.now)),
  more,
  anchor: anchor === null ? null : anchor + base.now,
});

const toSearchResult = ([, , messages, before]: ServerFrameOf<"searchResults">, base: FrameBase): SearchResult => ({
  messages: messages.map((message) => fromWireMessage(message, base.now)),
  before,
});

const toRevisedResult = (
  [, , epoch, revision, messages, more]: ServerFrameOf<"revisions">,
  base: FrameBase,
): RevisedResult => ({
  epoch,
  revision,
  messages: messages.map((message) => fromWireMessage(message, base.now)),
  more,
});

/** Decodes a result frame to the result of its command. */
export const toCommandResult = (frame: ResultFrame, base: FrameBase): CommandResults[RequestCommand["type"]] => {
  switch (frame[0]) {
    case serverFrame.changes: {
      const [, , ...changes] = frame;
      return toChangesResult(changes, base);
    }
    case serverFrame.page:
      return toPageResult(frame, base);
    case serverFrame.searchResults:
      return toSearchResult(frame, base);
    case serverFrame.revisions:
      return toRevisedResult(frame, base);
    case serverFrame.call:
      return frame[2];
    case serverFrame.presence:
      return { here: frame[2] === 1, seen_at: frame[3] === null ? null : frame[3] + base.now };
    case serverFrame.done:
      return { passed: true, revision: frame[2] ?? 0 };
  }
};

type SentRefs = ReadonlyMap<number, { cid: string; conversation: string }>;

type SentChange = Extract<ServerChange, { type: "sent" }>;

const toSentChanges = (numbers: readonly number[], base: FrameBase, refs: SentRefs): SentChange[] => {
  const changes: SentChange[] = [];
  for (let i = 0; i + 2 < numbers.length; i += 3) {
    const [ref = 0, seq = 0, at = 0] = numbers.slice(i, i + 3);
    const sent = refs.get(ref);
    if (sent) changes.push({ type: "sent", ...sent, seq, at: at + base.now });
  }
  return changes;
};

/** New messages, with own messages of this device inserted at their sequence numbers. */
const toMessageChanges = (
  [, , target, wire, acknowledged = []]: ServerFrameOf<"messages">,
  base: FrameBase,
  refs: SentRefs,
): ServerChange[] => {
  const messages = wire.map((message) => fromWireMessage(message, base.now));
  const changes: ServerChange[] = [];
  for (const sent of toSentChanges(acknowledged, base, refs)) {
    const before = messages.filter(({ seq }) => seq < sent.seq);
    if (before.length > 0) changes.push({ type: "messages", target, messages: messages.splice(0, before.length) });
    changes.push(sent);
  }
  return messages.length > 0 ? [...changes, { type: "messages", target, messages }] : changes;
};

/** Refs of this device's sent messages that a frame acknowledges. */
export const listRefs = (frame: AnyChangeFrame): number[] => {
  const change = (Array.isArray(frame) ? frame : []) as ChangeFrame | [];
  const acknowledged =
    change[0] === serverFrame.acknowledgement
      ? (change.slice(2) as number[])
      : change[0] === serverFrame.messages
        ? (change[4] ?? [])
        : [];
  return acknowledged.filter((_, index) => index % 3 === 0);
};

/** Decodes a change frame, except its counter. */
export const toServerChanges = (frame: AnyChangeFrame, base: FrameBase, refs: SentRefs): ServerChange[] => {
  if (!Array.isArray(frame)) {
    const { handle: target, counter: _, ...live } = frame as LiveText | LiveEdit;
    return [
      "at" in live
        ? { type: "liveText", target, ...live, at: live.at + base.now }
        : { type: "liveEdit", target, ...live },
    ];
  }
  const change = frame as ChangeFrame;
  switch (change[0]) {
    case serverFrame.acknowledgement:
      return toSentChanges(change.slice(2) as number[], base, refs);
    case serverFrame.messages:
      return toMessageChanges(change, base, refs);
    case serverFrame.row:
      return [{ type: "row", row: fromWireRow(change[2], base.now) }];
    case serverFrame.peerReceipts:
      return [{ type: "peerRead", target: change[2], delivered: change[3], read: change[4] }];
    case serverFrame.ownReceipts:
      return [
        {
          type: "ownRead",
          target: change[2],
          delivered: change[3],
          read: change[4],
          unread: change[5],
          head: change[6],
        },
      ];
    case serverFrame.person:
      return [{ type: "person", relation: fromWirePerson(change[2]) }];
    case serverFrame.settings:
      return [{ type: "settings", kept: change[2] }];
    case serverFrame.securityNotice:
      return change[2] ? [{ type: "notice", notice: change[2] }] : [];
    case serverFrame.head:
      return [{ type: "head", target: change[2], head: change[3] }];
    case serverFrame.revised: {
      const messages = change[5].map((message) => fromWireMessage(message, base.now));
      return [{ type: "revised", target: change[2], since: change[3], revision: change[4], messages }];
    }
    case serverFrame.draft: {
      const [, counter, target, before, seen = 0, at = 0, text, reply] = change;
      const content = text === undefined ? {} : { content: { base: seen, at: at + base.now, text, reply } };
      return [{ type: "draft", target, before, change: counter + base.counter, ...content }];
    }
    case serverFrame.reactions:
      return [
        {
          type: "revised",
          target: change[2],
          since: change[3],
          revision: change[4],
          messages: [],
          reactions: change[5],
        },
      ];
  }
};

export const readCounter = (frame: AnyChangeFrame, base: FrameBase): number =>
  base.counter + (Array.isArray(frame) ? (frame as ChangeFrame)[1] : (frame as LiveText | LiveEdit).counter);

/** Messages in a frame that count against the socket's credit. */
export const countMessages = (frame: AnyChangeFrame): number => {
  if (!Array.isArray(frame)) return 1;
  const change = frame as ChangeFrame;
  return change[0] === serverFrame.messages ? change[3].length : 0;
};
