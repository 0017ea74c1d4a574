import { useEffect, useState, useSyncExternalStore } from "react";
import { useIsCallScreenOpen } from "#calls/hooks.ts";
import type { ConversationId } from "#contract/ids.ts";
import { countsAsUnread } from "#contract/messages/message.ts";
import { markReadUpTo } from "#sync/actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

const subscribeToDocumentVisibility = (listener: () => void): (() => void) => {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
};

/** False in a background tab and behind a locked screen. */
const useIsDocumentVisible = (): boolean =>
  useSyncExternalStore(subscribeToDocumentVisibility, () => document.visibilityState === "visible");

const toNewestSeq = (items: ChatItem[]): number => items.find((item) => item.seq !== undefined)?.seq ?? 0;

/**
 * Sends read receipts while the newest message is visible to the user. Returns the number of unread incoming messages
 * that arrived while the user was reading further up.
 */
export const useReadReceipts = (conversation: ConversationId, items: ChatItem[], isNewestVisible: boolean): number => {
  const isVisible = useIsDocumentVisible();
  const isCallScreenOpen = useIsCallScreenOpen();
  const isReading = isVisible && !isCallScreenOpen && isNewestVisible;
  const headSeq = toNewestSeq(items);
  const [seenSeq, setSeenSeq] = useState(headSeq);
  useEffect(() => {
    if (!isReading || headSeq === 0) return;
    setSeenSeq(headSeq);
    markReadUpTo(conversation, headSeq);
  }, [conversation, isReading, headSeq]);
  let unseenCount = 0;
  for (const item of items) {
    if (item.seq !== undefined && item.seq <= seenSeq) break;
    if (!item.mine && countsAsUnread(item)) unseenCount++;
  }
  return unseenCount;
};
