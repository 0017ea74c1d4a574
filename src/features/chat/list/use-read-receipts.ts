import { useEffect, useState, useSyncExternalStore } from "react";
import { pageCover } from "#components/overlays/cover.ts";
import type { ConversationId } from "#contract/ids.ts";
import { countsAsUnread } from "#contract/messages/message.ts";
import { markReadUpTo } from "#sync/actions/conversations.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

const subscribeToDocumentVisibility = (listener: () => void): (() => void) => {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
};

/** Whether the page is seen: not in a background tab, behind a locked screen or below a layer of its own. */
export const useIsSeen = (): boolean => {
  const isVisible = useSyncExternalStore(subscribeToDocumentVisibility, () => document.visibilityState === "visible");
  return !useSyncExternalStore(pageCover.isCovered.subscribe, pageCover.isCovered.get) && isVisible;
};

const toNewestSeq = (items: ChatItem[]): number => items.find((item) => item.seq !== undefined)?.seq ?? 0;

/**
 * Sends read receipts while the newest message is seen. Returns the number of unread incoming messages
 * that arrived while the user was reading further up.
 */
export const useReadReceipts = (conversation: ConversationId, items: ChatItem[], isNewestSeen: boolean): number => {
  const headSeq = toNewestSeq(items);
  const [seenSeq, setSeenSeq] = useState(headSeq);
  useEffect(() => {
    if (!isNewestSeen || headSeq === 0) return;
    setSeenSeq(headSeq);
    markReadUpTo(conversation, headSeq);
  }, [conversation, isNewestSeen, headSeq]);
  let unseenCount = 0;
  for (const item of items) {
    if (item.seq !== undefined && item.seq <= seenSeq) break;
    if (!item.mine && countsAsUnread(item)) unseenCount++;
  }
  return unseenCount;
};
