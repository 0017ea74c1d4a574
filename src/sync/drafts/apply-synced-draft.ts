import * as v from "valibot";
import { ReplyPlace } from "#contract/messages/body.ts";
import { isSameDraft, type SyncedDraft } from "#contract/settings/drafts.ts";
import { type DraftRow, isTyping, parkDraft, type SharedDraft, unparkText } from "#sync/unsent/draft-row.ts";

/** How exactly the times of two devices can be compared, by the clock of the server. */
export const clockAccuracyMs = 1_000;

export const noSharedDraft: SharedDraft = { change: 0, text: "", isOwn: false };

export const withoutUnshared = ({ unshared: _, ...row }: DraftRow): DraftRow => row;

type Situation = {
  /** Device time, and what has to be added to it for that of the server. */
  now: number;
  skew: number;
  /** The server decided that the draft is the later one. */
  isOverruling: boolean;
  /** Id under which a text is parked. */
  parkedId: string;
};

/**
 * Whether an own draft has replaced one that was written later and that this device had not seen: its request was
 * delayed in the network, so the server counted its text as newer than it was.
 */
const wasReplacedLate = ({ change, at, text }: SyncedDraft, { change: own, isOwn, written }: SharedDraft): boolean =>
  isOwn &&
  written !== undefined &&
  text !== "" &&
  change < own &&
  change > written.base &&
  at > written.at + clockAccuracyMs;

const isSameAsLocal = ({ text, reply }: DraftRow, draft: SyncedDraft): boolean =>
  isSameDraft({ text, ...(v.is(ReplyPlace, reply) ? { reply } : {}) }, draft);

/** Whether a draft of another device cannot be applied while somebody types, although the server has decided for it. */
export const mustWait = (row: DraftRow, draft: SyncedDraft, { now, isOverruling }: Situation): boolean =>
  isOverruling && isTyping(row, now) && draft.change > (row.shared?.change ?? 0) && !isSameAsLocal(row, draft);

/** Replaces the text of the row by that of a draft. `isSeen`: the text that gives way need not be parked. */
const replaceText = (row: DraftRow, { text, reply }: SyncedDraft, { now, parkedId }: Situation, isSeen: boolean) => {
  const parked = isSeen ? row : parkDraft(row, text, parkedId);
  // A text that gave way here before and comes back.
  const back = parked.parked?.find((one) => one.target === undefined && one.text === text);
  const { reply: _, ...rest } = back ? unparkText(parked, back.id) : parked;
  return { ...rest, text, at: now, ...(text === "" || reply === undefined ? {} : { reply }) };
};

/**
 * The row after a draft of another device: its text, unless a later one was typed here, which will be sent then. A text
 * that gives way unseen is parked.
 */
export const applySyncedDraft = (row: DraftRow, draft: SyncedDraft, situation: Situation): DraftRow => {
  const { now, skew, isOverruling } = situation;
  const { text, change } = draft;
  const { unshared, shared = noSharedDraft } = row;
  if (change <= shared.change) {
    if (isTyping(row, now) || unshared || row.text !== shared.text || !wasReplacedLate(draft, shared)) return row;
    const { written: _, ...kept } = shared;
    return {
      ...replaceText(row, draft, situation, false),
      shared: kept,
      unshared: { at: draft.at - skew, isFinal: true },
    };
  }
  const next: SharedDraft = {
    change,
    text,
    isOwn: false,
    ...(draft.reply === undefined ? {} : { reply: draft.reply }),
  };
  if (isSameAsLocal(row, draft)) return { ...withoutUnshared(row), shared: next };
  // Written here; the answer was lost.
  if (shared.sent === text) return { ...row, shared: { ...next, isOwn: true } };
  const isUnsent = unshared !== undefined || row.text !== shared.text;
  const isLater = unshared !== undefined && unshared.at + skew > draft.at;
  if (isTyping(row, now) || (!isOverruling && (text === "" ? isUnsent : isLater && row.text !== "")))
    return { ...row, shared: { ...shared, isBehind: true }, unshared: unshared ?? { at: now } };
  const wasUnseen = isUnsent || (shared.isOwn && draft.base < shared.change);
  return { ...withoutUnshared(replaceText(row, draft, situation, !wasUnseen)), shared: next };
};
