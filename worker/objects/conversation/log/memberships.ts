import * as v from "valibot";
import { membershipsKeptMax } from "#contract/limits/groups.ts";
import { Seq } from "#contract/messages/positions.ts";

/**
 * Memberships of a person in a conversation: which messages they see (docs/decisions/former-members.md). A private chat
 * has one that never ends.
 */

/** First and last seq, inclusive. */
export const SeqRange = v.tuple([Seq, Seq]);
export type SeqRange = v.InferOutput<typeof SeqRange>;

/**
 * History that somebody keeps of earlier memberships of a group: their seqs in ascending order, and the revision of the
 * log, the time and the members version (`roster`) when the last one ended.
 */
export const KeptHistory = v.object({
  ranges: v.pipe(v.array(SeqRange), v.minLength(1)),
  revision: v.number(),
  at: v.number(),
  roster: v.number(),
});
export type KeptHistory = v.InferOutput<typeof KeptHistory>;

/** Fields of a member (`member-table.ts`) on which it depends what they see. */
type Membership = {
  state: string;
  kept: KeptHistory | null;
  visibleAfter: number;
  visibleUpTo: number | null;
  hidden: number;
};

/** Whether somebody is no member, as far as they know, and keeps the history they had. They see nothing newer. */
export const isFormerReader = ({ state, kept }: Pick<Membership, "state" | "kept">): boolean =>
  state !== "in" && kept !== null;

/** Seq of the newest message that a member sees in a log with this head. */
export const findNewestSeq = ({ state, kept, visibleUpTo }: Membership, head: number): number =>
  visibleUpTo ?? (state === "in" ? head : (kept?.ranges.at(-1)?.[1] ?? head));

/** Seqs of a person's memberships in ascending order. */
const listMemberships = (member: Membership, head: number): readonly SeqRange[] => [
  ...(member.kept?.ranges ?? []),
  ...(member.state === "in" ? [[member.visibleAfter + 1, findNewestSeq(member, head)] satisfies SeqRange] : []),
];

const includesSeq = (ranges: readonly SeqRange[], seq: number): boolean =>
  ranges.some(([first, last]) => seq >= first && seq <= last);

/** Whether the message was written during a membership, whether or not the member cleared it. */
export const isWithinMembership = (member: Membership, head: number, seq: number): boolean =>
  includesSeq(listMemberships(member, head), seq);

/** Seqs that a member sees in ascending order: those of their memberships without the cleared history. */
export const listVisibleRanges = (member: Membership, head: number): readonly SeqRange[] =>
  listMemberships(member, head)
    .map(([first, last]): SeqRange => [Math.max(first, member.hidden + 1), last])
    .filter(([first, last]) => first <= last);

/** Whether a member sees the message with this seq, if it exists. */
export const isVisibleSeq = (member: Membership, head: number, seq: number): boolean =>
  includesSeq(listVisibleRanges(member, head), seq);

/** The history that a member keeps when their membership ends with the message at `last`. */
export const toKeptHistory = (
  { kept, visibleAfter }: Membership,
  last: number,
  end: Omit<KeptHistory, "ranges">,
): KeptHistory => {
  const range: SeqRange = [visibleAfter + 1, last];
  return { ranges: [...(kept?.ranges ?? []), range].slice(-membershipsKeptMax), ...end };
};
