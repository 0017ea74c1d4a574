import type { GroupMembers } from "#features/chat/message/senders.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { listNamedMembers } from "#sync/queries/queries.ts";

/** Those of the messages told (by their places, oldest first) that stand in the chat with what they said. */
export const listPresentMessages = (told: readonly number[], items: readonly ChatItem[]): ChatItem[] => {
  const bySeq = new Map(items.map((item) => [item.seq, item]));
  return told.flatMap((seq) => {
    const item = bySeq.get(seq);
    return item && item.body.type !== "deleted" ? [item] : [];
  });
};

/** Whether all whom a line names are known, as they always are in a private chat. */
export const areNamesLoaded = (item: ChatItem, members: GroupMembers | undefined): boolean =>
  !members || listNamedMembers(item).every((number) => number === members.ownNumber || members.authors[number]);
