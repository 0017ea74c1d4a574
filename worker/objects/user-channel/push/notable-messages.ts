import { isMutedAt, isMutedExceptMentionsAt } from "#contract/conversations.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";

/**
 * Row of a conversation restricted to the unread messages of which the person wants to be notified: all, or while it is
 * muted except mentions, these. Undefined if there are none.
 */
export const toNotableEntry = (entry: InboxEntry, now: number): InboxEntry | undefined => {
  const { mentions, gone, unread } = entry;
  if (gone || unread === 0) return undefined;
  if (!isMutedAt(entry, now)) return entry;
  const newest = mentions.at(-1);
  if (newest === undefined || !isMutedExceptMentionsAt(entry, now)) return undefined;
  // The preview is that of the newest message, which need not be the mention.
  const preview = newest === entry.head ? entry.preview : null;
  return { ...entry, head: newest, unread: mentions.length, preview };
};
