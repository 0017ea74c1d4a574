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

/**
 * Changed reactions of a conversation: revision that they bring a device to, and how many revisions before it they
 * include.
 */
export type ReactionsChange = {
  counter: number;
  handle: number;
  revision: number;
  includedRevisions: number;
  changed: readonly ChangedReactions[];
};

const base36 = (number: number): string => number.toString(36);

/** Frame of changed reactions: base-36 numbers and summaries, separated by semicolons, such as "u;3;2f;zz;👍". */
export const encodeReactions = ({ counter, handle, revision, includedRevisions, changed }: ReactionsChange): string =>
  [
    base36(counter),
    base36(handle),
    base36(revision) + (includedRevisions > 1 ? `-${base36(includedRevisions)}` : ""),
    ...changed.flatMap(({ seq, summary }) => [base36(seq), summary]),
  ].join(";");

const reactionsPattern = /^(\w+);(\w+);(\w+)(?:-(\w+))?((?:;\w+;[^;]*)+)$/;
const changePattern = /;(\w+);([^;]*)/g;
const fromBase36 = (text = "1"): number => Number.parseInt(text, 36);

/** Counter, handle, previous revision, new revision and changes of a frame. */
export type ReactionsFields = [number, number, since: number, revision: number, changed: ChangedReactions[]];

export const decodeReactions = (frame: string): ReactionsFields | undefined => {
  const match = reactionsPattern.exec(frame);
  if (!match) return undefined;
  const [, counter, handle, revision, included, changes = ""] = match;
  const until = fromBase36(revision);
  const changed = [...changes.matchAll(changePattern)].map(([, seq, summary = ""]) => ({
    seq: fromBase36(seq),
    summary,
  }));
  return [fromBase36(counter), fromBase36(handle), until - fromBase36(included), until, changed];
};
