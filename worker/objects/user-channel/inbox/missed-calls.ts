import { missedCallsListedMax } from "#contract/limits/conversations.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";

/** Seqs up to which messages are read and cleared. */
type Reader = { read: number; hidden: number };

/** Seqs of unread missed calls after messages were added or changed, or more was read, at most the newest ones. */
export const deriveMissedCalls = (
  before: readonly number[],
  { read, hidden }: Reader,
  messages: readonly Message[] = [],
): number[] => {
  const seqs = new Set(before);
  for (const message of messages)
    seqs[message.body.type === "call" && countsAsUnread(message) ? "add" : "delete"](message.seq);
  return [...seqs]
    .filter((seq) => seq > Math.max(read, hidden))
    .sort((a, b) => a - b)
    .slice(-missedCallsListedMax);
};

/** Whether the unread messages of a conversation are missed calls and nothing else. */
export const hasOnlyMissedCalls = ({ unread, missedCalls }: { unread: number; missedCalls: readonly number[] }) =>
  unread > 0 && missedCalls.length === unread;
