import * as v from "valibot";
import { GroupCard } from "./groups.ts";
import { StoredBody } from "./messages/body.ts";
import { Count, Seq, Watermark } from "./messages/positions.ts";
import { ConversationFlags } from "./settings/conversation-flags.ts";

/**
 * Inbox row: everything the conversation list shows, and everything a device needs to decide whether to request
 * messages.
 */
export const InboxRow = v.object({
  handle: Count, // this person's short number for the conversation
  conversation: v.string(),
  kind: v.picklist(["private", "group"]),
  epoch: v.string(), // identity of the log; a new one invalidates cached messages
  head: Watermark, // seq of the newest message
  at: v.number(), // its time, or the creation time of an empty conversation
  sender: Count, // its sender's member number
  preview: v.nullable(StoredBody), // its body, cut to previewMaxLength; null if empty
  whole: v.boolean(), // whether `preview` is the complete body
  unread: Count,
  mentions: v.optional(v.array(Seq), []), // of the person: the newest unread ones
  delivered: Watermark, // own watermarks
  read: Watermark,
  othersDelivered: Watermark, // lowest watermarks of the other members; in groups as of the last notification
  othersRead: Watermark,
  hidden: Watermark, // seq up to which the person cleared the history
  open: v.boolean(), // whether the person may write; see `hasLeftGroup`
  muted: v.boolean(), // see `isMutedAt`
  mutedUntil: v.nullable(v.number()), // end of a timed mute, null if it has none
  mutedExceptMentions: v.optional(v.boolean(), false), // mentions notify while it is muted
  ...ConversationFlags.entries,
  flagsRevision: v.optional(Watermark, 0), // of the person's flags of messages (`MessageFlags`), 0 without any
  kept: v.boolean(), // stays in the list although its history is cleared
  revision: Watermark, // number of changes to stored messages; see `RevisedResult`
  pinnedMessages: v.optional(v.array(Seq), []), // those that the person sees, pinned last at the end
  group: v.nullable(GroupCard), // null in a private conversation
  gone: v.boolean(), // the group has ended, or the person left it and keeps no history; devices delete its data
});
export type InboxRow = v.InferOutput<typeof InboxRow>;

/**
 * Whether the person was a member of a group and keeps the history they had, without any change to it
 * (docs/decisions/former-members.md).
 */
export const hasLeftGroup = ({ group, open, gone }: Pick<InboxRow, "group" | "open" | "gone">): boolean =>
  group !== null && !open && !gone;

/** Whether a conversation has ended for the person: they are not in the group any more, with or without its history. */
export const hasEnded = (row: Pick<InboxRow, "group" | "open" | "gone">): boolean => row.gone || hasLeftGroup(row);

/** Whether a conversation is muted at a time. A timed mute ends without a change of the row. */
export const isMutedAt = ({ muted, mutedUntil }: Pick<InboxRow, "muted" | "mutedUntil">, at: number): boolean =>
  muted && (mutedUntil ?? Number.POSITIVE_INFINITY) > at;

/** Whether mentions are the only messages of a conversation that notify at a time. */
export const isMutedExceptMentionsAt = (
  row: Pick<InboxRow, "muted" | "mutedUntil" | "mutedExceptMentions">,
  at: number,
): boolean => row.mutedExceptMentions && isMutedAt(row, at);

/** Whether the list shows a conversation: it has visible messages, or was cleared without being deleted. */
export const isListed = (row: Pick<InboxRow, "head" | "hidden" | "kept" | "gone">): boolean =>
  !row.gone && (row.head > row.hidden || row.kept);
