import { type InboxRow, isMutedAt } from "#contract/conversations.ts";

/** Whether, until when, and except for what a conversation is muted. */
export type InboxMute = Pick<InboxRow, "muted" | "mutedUntil" | "mutedExceptMentions">;

export const noMute: InboxMute = { muted: false, mutedUntil: null, mutedExceptMentions: false };

export const isSameMute = (a: InboxMute, b: InboxMute): boolean =>
  a.muted === b.muted && a.mutedUntil === b.mutedUntil && a.mutedExceptMentions === b.mutedExceptMentions;

/** Whether a change of a mute lets messages notify that did not at that time. */
export const isLouderMute = (before: InboxMute, after: InboxMute, now: number): boolean =>
  isMutedAt(before, now) && (!after.muted || (after.mutedExceptMentions && !before.mutedExceptMentions));
