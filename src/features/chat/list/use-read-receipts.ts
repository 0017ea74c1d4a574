import { useEffect, useState } from "react";
import { useIsCallBefore } from "#calls/hooks.ts";
import { isToRead } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { markViewed } from "#sync/actions.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { useIsDocumentVisible } from "./use-document-visible.ts";

const newestSeq = (items: ChatItem[]): number => items.find((item) => item.seq !== undefined)?.seq ?? 0;

/**
 * Reports what is read: the newest message is in sight, and somebody may be looking. Answers how many of the
 * other's messages came while one read further up.
 */
export const useReading = (conversation: ConversationId, items: ChatItem[], isNewestShown: boolean): number => {
  const isVisible = useIsDocumentVisible();
  const isCovered = useIsCallBefore();
  const isReading = isVisible && !isCovered && isNewestShown;
  const headSeq = newestSeq(items);
  const [seenSeq, setSeenSeq] = useState(headSeq);
  useEffect(() => {
    if (!isReading || headSeq === 0) return;
    setSeenSeq(headSeq);
    markViewed(conversation, headSeq);
  }, [conversation, isReading, headSeq]);
  let unseen = 0;
  for (const item of items) {
    if (item.seq !== undefined && item.seq <= seenSeq) break;
    if (!item.mine && isToRead(item)) unseen++;
  }
  return unseen;
};
