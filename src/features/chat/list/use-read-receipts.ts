import { useEffect, useState } from "react";
import { useIsCallScreenOpen } from "#calls/hooks.ts";
import { countsAsUnread } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { markReadUpTo } from "#sync/actions.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { useIsDocumentVisible } from "./use-document-visible.ts";

const findNewestSeq = (items: ChatItem[]): number => items.find((item) => item.seq !== undefined)?.seq ?? 0;

/**
 * Reports what is read: the newest message is in sight, and somebody may be looking. Answers how many of the
 * other's messages came while one read further up.
 */
export const useReadReceipts = (conversation: ConversationId, items: ChatItem[], isNewestShown: boolean): number => {
  const isVisible = useIsDocumentVisible();
  const isCovered = useIsCallScreenOpen();
  const isReading = isVisible && !isCovered && isNewestShown;
  const headSeq = findNewestSeq(items);
  const [seenSeq, setSeenSeq] = useState(headSeq);
  useEffect(() => {
    if (!isReading || headSeq === 0) return;
    setSeenSeq(headSeq);
    markReadUpTo(conversation, headSeq);
  }, [conversation, isReading, headSeq]);
  let unseen = 0;
  for (const item of items) {
    if (item.seq !== undefined && item.seq <= seenSeq) break;
    if (!item.mine && countsAsUnread(item)) unseen++;
  }
  return unseen;
};
