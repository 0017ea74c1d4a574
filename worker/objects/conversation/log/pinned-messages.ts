import * as v from "valibot";
import { pinnedMessagesMax } from "#contract/limits/messages.ts";
import type { Member } from "./member-table.ts";
import { isFormerReader, isWithinMembership } from "./memberships.ts";

/** Pinned message. `onlyFor`: number of the only member who sees it pinned, absent if all do. */
const PinnedMessage = v.strictObject({ seq: v.number(), onlyFor: v.optional(v.number()) });
type PinnedMessage = v.InferOutput<typeof PinnedMessage>;

/**
 * Pinned messages of a conversation, the one pinned last at the end. `version`: time of the last change, greater with
 * each change, so that devices of a restored log accept the next one.
 */
export const PinnedMessages = v.strictObject({ version: v.number(), list: v.array(PinnedMessage) });
export type PinnedMessages = v.InferOutput<typeof PinnedMessages>;

/** Audience of a change: everybody, or only the member, who is blocked or whose message was not delivered. */
type PinScope = { member: Member; isUndelivered: boolean };

const isSeenBy = ({ onlyFor }: PinnedMessage, { number }: Pick<Member, "number">): boolean =>
  onlyFor === undefined || onlyFor === number;

/**
 * Positions of the pinned messages that a member sees in a log with this head: none of messages from outside their
 * memberships, and none at all after they left a group. Cleared messages are included: they take a place of the list,
 * which who may pin can free.
 */
export const listPinnedFor = (pinned: PinnedMessages | null, member: Member, head: number): number[] =>
  (isFormerReader(member) ? [] : (pinned?.list ?? []))
    .filter((one) => isWithinMembership(member, head, one.seq) && isSeenBy(one, member))
    .map(({ seq }) => seq)
    .slice(-pinnedMessagesMax);

const toNextVersion = (pinned: PinnedMessages | null, now: number): number => Math.max(now, (pinned?.version ?? 0) + 1);

const withoutMessage = (pinned: PinnedMessages | null, seq: number): PinnedMessage[] =>
  (pinned?.list ?? []).filter((one) => one.seq !== seq);

/**
 * The list after a member pinned a message. If nobody else is to notice, a message that only the other member saw
 * pinned is then pinned for both in its place.
 */
export const withPin = (
  pinned: PinnedMessages | null,
  seq: number,
  { member, isUndelivered }: PinScope,
  now: number,
): PinnedMessages => {
  const version = toNextVersion(pinned, now);
  if (!isUndelivered) return { version, list: [...withoutMessage(pinned, seq), { seq }] };
  const list = pinned?.list ?? [];
  return list.some((one) => one.seq === seq)
    ? { version, list: list.map((one) => (one.seq === seq ? { seq } : one)) }
    : { version, list: [...list, { seq, onlyFor: member.number }] };
};

/** The list after a member unpinned a message: for all, or, if nobody else is to notice, for the member alone. */
export const withoutPin = (
  pinned: PinnedMessages,
  seq: number,
  { member, isUndelivered }: PinScope,
  others: readonly Pick<Member, "number">[],
  now: number,
): PinnedMessages => {
  const [other] = others;
  const staysForOther =
    isUndelivered && other && pinned.list.some((one) => one.seq === seq && one.onlyFor !== member.number);
  return {
    version: toNextVersion(pinned, now),
    list: staysForOther
      ? pinned.list.map((one) => (one.seq === seq ? { seq, onlyFor: other.number } : one))
      : withoutMessage(pinned, seq),
  };
};

/** The list without a deleted message; the same list if it was not pinned. */
export const withoutDeletedPin = (pinned: PinnedMessages | null, seq: number, now: number): PinnedMessages | null =>
  pinned?.list.some((one) => one.seq === seq)
    ? { version: toNextVersion(pinned, now), list: withoutMessage(pinned, seq) }
    : pinned;

/** The list without what only a member who deleted the account saw pinned. */
export const withoutPinsOnlyFor = ({ version, list }: PinnedMessages, { number }: Member): PinnedMessages => ({
  version,
  list: list.filter((one) => one.onlyFor !== number),
});
