import { listNamedMembers } from "#components/messages/member-names.ts";
import type { GroupMembers } from "#features/chat/message/senders.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

/** Announced messages (by `seq`, oldest first) that are still in the chat and not deleted. */
export const listPresentMessages = (announcedSeqs: readonly number[], items: readonly ChatItem[]): ChatItem[] => {
  const bySeq = new Map(items.map((item) => [item.seq, item]));
  return announcedSeqs.flatMap((seq) => {
    const item = bySeq.get(seq);
    return item && item.body.type !== "deleted" ? [item] : [];
  });
};

/** Whether the profiles of all members named by a message are loaded. Always true in a private chat. */
export const areNamesLoaded = (item: ChatItem, members: GroupMembers | undefined): boolean =>
  !members || listNamedMembers(item).every((number) => number === members.ownNumber || members.profiles[number]);
