import { isMutedAt, isMutedExceptMentionsAt } from "#contract/conversations.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";
import { isSameFlags, noFlags } from "#contract/settings/conversation-flags.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";

type Arrival = { entry: InboxEntry; newMessages: readonly Message[] };

/** Whether a new message brings an archived conversation back: it is not muted, or the message notifies anyway. */
const bringsBack = (message: Message, entry: InboxEntry, now: number): boolean => {
  if (!countsAsUnread(message) && message.cid === undefined) return false;
  return !isMutedAt(entry, now) || (isMutedExceptMentionsAt(entry, now) && entry.mentions.includes(message.seq));
};

/**
 * Whether new messages bring an archived conversation back. `newMessages` is empty if the row was behind: then more
 * unread messages do.
 */
export const hasArrival = ({ entry, newMessages }: Arrival, before: InboxEntry | undefined, now: number): boolean => {
  if (!before || before.gone || entry.gone || entry.epoch !== before.epoch || entry.head <= before.head) return false;
  return newMessages.length > 0
    ? newMessages.some((message) => bringsBack(message, entry, now))
    : !isMutedAt(entry, now) && entry.unread > before.unread;
};

/** The update without the flags that it ended: reading ends a mark as unread, an arrival an archiving. */
export const endFlags = <T extends Arrival & { needsFullRow: boolean }>(
  update: T,
  before: InboxEntry | undefined,
  hasArrived: boolean,
): T => {
  const entry = endMark(update.entry, before);
  if (hasArrived) entry.archived = false;
  return { ...update, entry, needsFullRow: update.needsFullRow || !isSameFlags(entry, update.entry) };
};

/** The row without its mark as unread if the person has read more. */
export const endMark = (entry: InboxEntry, before: InboxEntry | undefined): InboxEntry => ({
  ...entry,
  marked: entry.marked && entry.read <= (before?.read ?? 0),
});

/** The row without flags if it was deleted from the list. */
export const endFlagsOfDeleted = (entry: InboxEntry, isKeptListed: boolean | undefined): InboxEntry =>
  isKeptListed === false ? { ...entry, ...noFlags } : entry;

/** Records under which change the person last read the conversation, and a message last arrived. */
export const recordFlagEnds = (entry: InboxEntry, before: InboxEntry | undefined, hasArrived: boolean): InboxEntry => ({
  ...entry,
  lastReadChange: entry.read > (before?.read ?? 0) ? entry.changed : entry.lastReadChange,
  lastArrivalChange: hasArrived ? entry.changed : entry.lastArrivalChange,
});
