import type { SocketBase } from "./codec.ts";

/** Reactions of one kind to a message. `isOwn`: the reader's is among them. */
export type ReactionCount = { emoji: string; count: number; isOwn: boolean };

/**
 * Summary of the reactions to a message as its reader sees them, in frames and in stores: the kinds separated by
 * spaces, each with its emoji, its count if above 1, and "." if the reader's own is among them, such as "👍3. ❤️".
 */
export const formatReactions = (counts: readonly ReactionCount[]): string =>
  counts.map(({ emoji, count, isOwn }) => emoji + (count > 1 ? count : "") + (isOwn ? "." : "")).join(" ");

export const parseReactions = (summary = ""): ReactionCount[] =>
  [...summary.matchAll(/(\S+?)(\d*)(\.?)(?: |$)/gu)].map(([, emoji = "", count, own]) => ({
    emoji,
    count: Number(count || 1),
    isOwn: own === ".",
  }));

/** The summary after the reader reacted with an emoji, or with none (null), whatever their reaction was before. */
export const withOwnReaction = (summary: string | undefined, emoji: string | null): string => {
  const counts = parseReactions(summary)
    .map((one) => (one.isOwn ? { ...one, count: one.count - 1, isOwn: false } : one))
    .map((one) => (one.emoji === emoji ? { ...one, count: one.count + 1, isOwn: true } : one));
  if (emoji !== null && !counts.some(({ isOwn }) => isOwn)) counts.push({ emoji, count: 1, isOwn: true });
  return formatReactions(counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count));
};

/** New summary of a message's reactions, empty if there are none. */
export type ChangedReactions = { seq: number; summary: string };

/** Changed reactions of a conversation, and the revisions between which they changed. */
export type ReactionsChange = {
  counter: number;
  target: number;
  since: number;
  revision: number;
  changed: readonly ChangedReactions[];
};

const base36 = (number: number): string => number.toString(36);

/** Frame of changed reactions: base-36 numbers and summaries, separated by semicolons, such as "u;3;2f;zz;👍". */
export const encodeReactions = (
  { counter, target, since, revision, changed }: ReactionsChange,
  base: SocketBase,
): string =>
  [
    base36(counter - base.counter),
    base36(target),
    base36(revision) + (revision - since > 1 ? `-${base36(revision - since)}` : ""),
    ...changed.flatMap(({ seq, summary }) => [base36(seq), summary]),
  ].join(";");

const reactionsPattern = /^(\w+);(\w+);(\w+)(?:-(\w+))?((?:;\w+;[^;]*)+)$/;
const changePattern = /;(\w+);([^;]*)/g;
const fromBase36 = (text = "1"): number => Number.parseInt(text, 36);

export const decodeReactions = (frame: string, base: SocketBase): ReactionsChange | undefined => {
  const match = reactionsPattern.exec(frame);
  if (!match) return undefined;
  const [, counter, target, until, included, changes = ""] = match;
  const revision = fromBase36(until);
  const changed = [...changes.matchAll(changePattern)].map(([, seq, summary = ""]) => ({
    seq: fromBase36(seq),
    summary,
  }));
  return {
    counter: fromBase36(counter) + base.counter,
    target: fromBase36(target),
    since: revision - fromBase36(included),
    revision,
    changed,
  };
};
