import type { InboxRow } from "#contract/conversations.ts";
import { deriveMentions } from "#contract/messages/mentions.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";

/** Unread mentions by an exact count up to a head, and those known after it. */
export const mergeExactMentions = (
  row: Pick<InboxRow, "read" | "hidden" | "group">,
  { head, mentions = [] }: Pick<ConversationNotice, "head" | "mentions">,
  known: readonly number[],
): number[] => {
  const later = known.filter((seq) => seq > head);
  return deriveMentions([...mentions, ...later], row);
};

export const isSameMentions = (a: readonly number[], b: readonly number[]): boolean => a.join() === b.join();
