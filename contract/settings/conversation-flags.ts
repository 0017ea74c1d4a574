import * as v from "valibot";

/** Flags of a conversation in the list of a person, on all their devices (docs/decisions/conversation-flags.md). */
export const ConversationFlags = v.object({
  marked: v.optional(v.boolean(), false), // as unread by the person
  archived: v.optional(v.boolean(), false),
  /** When it was pinned to the top of the list: the order of the pinned conversations. Null if it is not pinned. */
  pinnedAt: v.optional(v.nullable(v.number()), null),
});
export type ConversationFlags = v.InferOutput<typeof ConversationFlags>;

/**
 * New values of flags. An absent one stays as it is. `pinned`: the time of an earlier pin gives the conversation its
 * former place again.
 */
export type FlagChange = {
  marked?: boolean | undefined;
  archived?: boolean | undefined;
  pinned?: boolean | number | undefined;
};

export const noFlags: ConversationFlags = { marked: false, archived: false, pinnedAt: null };

/** Flags after a change. A conversation is archived or pinned, never both: the newer choice ends the other. */
export const applyFlagChange = (
  before: ConversationFlags,
  { marked = before.marked, archived, pinned }: FlagChange,
  pinnedAt: number,
): ConversationFlags => {
  if (pinned) {
    const at = pinned === true ? pinnedAt : Math.min(pinned, pinnedAt);
    return { marked, archived: false, pinnedAt: before.pinnedAt ?? at };
  }
  if (archived) return { marked, archived: true, pinnedAt: null };
  return { marked, archived: archived ?? before.archived, pinnedAt: pinned === false ? null : before.pinnedAt };
};

/** Change that restores the place of a conversation in the list. */
export const toPlaceChange = ({ archived, pinnedAt }: ConversationFlags): FlagChange =>
  pinnedAt === null ? { archived, pinned: false } : { pinned: pinnedAt };

export const isSameFlags = (a: ConversationFlags, b: ConversationFlags): boolean =>
  a.marked === b.marked && a.archived === b.archived && a.pinnedAt === b.pinnedAt;

/**
 * Number that a conversation adds to the unread total: its unread messages, or 1 if it is marked as unread. Muted and
 * archived conversations add nothing.
 */
export const toUnreadTotal = (
  rows: readonly { unread: number; marked: boolean; muted: boolean; archived: boolean }[],
): number =>
  rows.reduce(
    (sum, { unread, marked, muted, archived }) => sum + (muted || archived ? 0 : unread || (marked ? 1 : 0)),
    0,
  );
