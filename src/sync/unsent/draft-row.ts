import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { Seq } from "#contract/messages/positions.ts";
import { cleanText } from "#contract/text.ts";

/**
 * Message that another one answers: its place, or the client id of an own one that was unsent when it was chosen.
 */
export const ReplyTarget = v.union([ReplyPlace, Uuid]);
export type ReplyTarget = v.InferOutput<typeof ReplyTarget>;

/** Pause in typing after which a draft is sent, and after which one of another device may replace it. */
export const typingPauseMs = 3_000;

/**
 * Text that was written and is neither sent nor in the message field: a draft that gave way to another one, or the
 * words of an edit that was not saved (`target`: the edited message, by seq or client id).
 */
const ParkedText = v.looseObject({ id: v.string(), text: v.string(), target: v.optional(v.union([Seq, Uuid])) });
export type ParkedText = v.InferOutput<typeof ParkedText>;

/** Draft of a conversation as the server is known to have it. */
const SharedDraft = v.looseObject({
  /** Number of its last change. */
  change: v.number(),
  text: v.string(),
  reply: v.optional(ReplyPlace),
  /** This device wrote it. */
  isOwn: v.boolean(),
  /** Text that this device sent and the server has not confirmed. */
  sent: v.optional(v.string()),
  /**
   * Of an own draft whose request may have been delayed: the newest change that this device had seen before it, and
   * when it was written, by the clock of the server.
   */
  written: v.optional(v.object({ base: v.number(), at: v.number() })),
  /** A later draft of another device was not applied, because somebody was typing here. */
  isBehind: v.optional(v.boolean()),
});
export type SharedDraft = v.InferOutput<typeof SharedDraft>;

/**
 * What a person writes in one conversation and has not sent. It stands in the table `drafts` of the unsent database
 * (`src/lib/unsent/unsent-database.ts`), one row a conversation. States of its text:
 *
 * | `text` | `unshared` | `shared` | state                                                    |
 * | ------ | ---------- | -------- | -------------------------------------------------------- |
 * | some   | set        | any      | typed here; the server is told after a pause             |
 * | some   | absent     | same     | the server has it                                        |
 * | some   | absent     | other    | the server refused it: it stays on this device           |
 * | empty  | set        | set      | sent or emptied here; the server is told at once         |
 * | empty  | absent     | any      | no draft; `shared` stays, as the server numbers changes  |
 */
export const DraftRow = v.looseObject({
  conversation: ConversationId,
  /** Text of the message field; empty, never blank, if there is none. */
  text: v.string(),
  reply: v.optional(ReplyTarget),
  /** Device time of the last change of the row. */
  at: v.number(),
  /** Change of the text or the reply that the server does not know. `isFinal`: nobody types in it any more. */
  unshared: v.optional(v.object({ at: v.number(), isFinal: v.optional(v.boolean()) })),
  shared: v.optional(SharedDraft),
  /** In the order of writing. Their number has no limit, because a text must not be lost. */
  parked: v.optional(v.array(ParkedText)),
});
export type DraftRow = v.InferOutput<typeof DraftRow>;

export const createDraft = (conversation: ConversationId): DraftRow => ({ conversation, text: "", at: 0 });

/** Whether nothing would be lost without the row. */
export const isEmptyDraft = ({ text, reply, unshared, shared, parked = [] }: DraftRow): boolean =>
  text === "" && reply === undefined && !unshared && !shared && parked.length === 0;

/** Whether somebody types in the message field at this time, in any tab. */
export const isTyping = ({ unshared }: DraftRow, now: number): boolean =>
  unshared !== undefined && !unshared.isFinal && Math.abs(now - unshared.at) < typingPauseMs;

/** Whether the server is known to have the text. */
export const isDraftShared = ({ text, unshared, shared }: DraftRow): boolean =>
  !unshared && shared?.text === text && !shared.isBehind && shared.sent === undefined;

/**
 * Parks a text. One with the same id, or one that it continues, is replaced. `isEarlier`: those with the same target
 * were written after it.
 */
export const parkText = (row: DraftRow, parked: ParkedText, isEarlier = false): DraftRow => {
  const { id, text, target } = parked;
  const before = row.parked ?? [];
  const isSame = (other: ParkedText) => other.text === text && other.target === target;
  if (before.some((other) => other.id !== id && isSame(other))) return row;
  const isContinued = (other: ParkedText) =>
    target === undefined && other.target === undefined && text.startsWith(other.text);
  const others = before.filter((other) => other.id !== id && !isContinued(other));
  const later = isEarlier ? others.findIndex((other) => other.target === target) : -1;
  const place = later < 0 ? others.length : later;
  return { ...row, parked: [...others.slice(0, place), parked, ...others.slice(place)] };
};

export const unparkText = (row: DraftRow, id: string): DraftRow => {
  const { parked = [], ...rest } = row;
  const others = parked.filter((one) => one.id !== id);
  return others.length === 0 ? rest : { ...rest, parked: others };
};

/** Parks the draft's text because another one takes its place, unless that contains it. */
export const parkDraft = (row: DraftRow, next: string, parkedId: string): DraftRow =>
  row.text === "" || next.includes(row.text.trim()) ? row : parkText(row, { id: parkedId, text: row.text });

/** The text ended at the time `at`: the other devices learn of it at once if they may have it. */
const endText = ({ reply: _, unshared: _unshared, ...row }: DraftRow, at: number): DraftRow => ({
  ...row,
  text: "",
  at,
  ...(row.shared ? { unshared: { at, isFinal: true } } : {}),
});

/**
 * Text that somebody typed at the time `at`. `before`: what stood in the field; a text that another tab has written
 * since is parked under `parkedId`, and an emptied field does not end it. Without `before` any text is replaced.
 */
type TypedText = { text: string; before: string | undefined; at: number; parkedId: string };

export const typeText = (row: DraftRow, { text, before, at, parkedId }: TypedText): DraftRow => {
  const isBlank = text.trim() === "";
  if (row.text === (isBlank ? "" : text)) return row;
  const isUnseen = before !== undefined && row.text !== "" && row.text !== before;
  if (isBlank)
    return isUnseen ? row : { ...endText(row, at), ...(row.reply === undefined ? {} : { reply: row.reply }) };
  return { ...(isUnseen ? parkDraft(row, text, parkedId) : row), text, at, unshared: { at } };
};

/** Sets the message that the draft answers; undefined makes it an ordinary draft. */
export const setReply = ({ reply: _, ...row }: DraftRow, reply: ReplyTarget | undefined, at: number): DraftRow => ({
  ...row,
  at,
  ...(reply === undefined ? {} : { reply }),
  ...(row.text === "" ? {} : { unshared: { at } }),
});

/**
 * Ends the draft whose text was sent. A draft that another tab has written since stays: one that neither the sent text
 * contains nor this page had in its field (`shown`). Spaces around a text, which a keyboard adds, are not sent.
 */
export const endSentText = (row: DraftRow, sent: string, shown: string | undefined, at: number): DraftRow => {
  const { reply: _, ...rest } = row;
  if (row.text === "") return rest;
  return sent.includes(cleanText(row.text)) || row.text === shown ? endText(row, at) : rest;
};

/** Ends everything of a removed conversation. */
export const endDraft = ({ parked: _, ...row }: DraftRow, at: number): DraftRow => endText(row, at);

/** Nobody types in the draft any more: the server is told at once. */
export const finishTyping = (row: DraftRow): DraftRow =>
  row.unshared ? { ...row, unshared: { ...row.unshared, isFinal: true } } : row;

const joinRows = (
  committed: DraftRow | undefined,
  left: DraftRow | undefined,
  seenAt: number | undefined,
): DraftRow | undefined => {
  if (!committed || !left || committed.at === seenAt) return left ?? (committed?.at === seenAt ? undefined : committed);
  const [winner, loser] = committed.at > left.at ? [committed, left] : [left, committed];
  const withParked = (loser.parked ?? []).reduce((row, parked) => parkText(row, parked), winner);
  if (loser.text === "" || winner.text.includes(loser.text.trim())) return withParked;
  return parkText(withParked, { id: `merged-${loser.at}`, text: loser.text });
};

/**
 * The committed row and one that a page could not commit. `seenAt`: time of the committed row that the page had seen.
 * Of two rows that do not know each other the later one wins; the text of the other is parked.
 */
export const mergeDrafts = (...rows: Parameters<typeof joinRows>): DraftRow | undefined => {
  const row = joinRows(...rows);
  return row && !isEmptyDraft(row) ? row : undefined;
};
