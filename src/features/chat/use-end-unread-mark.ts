import { useEffect, useRef } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { setConversationFlags } from "#sync/actions/conversations.ts";

/** Time after opening a chat in which a mark of another device still arrives. A later one was made meanwhile. */
const openingMs = 5_000;

/** Ends the mark as unread of a conversation when its chat is opened. */
export const useEndUnreadMark = (conversation: ConversationId, isMarked = false): void => {
  const opening = useRef({ conversation, at: 0 });
  useEffect(() => {
    opening.current = { conversation, at: performance.now() };
  }, [conversation]);
  useEffect(() => {
    if (isMarked && performance.now() - opening.current.at < openingMs)
      setConversationFlags(conversation, { marked: false }).catch(() => {}); // it ends when the chat is opened again
  }, [conversation, isMarked]);
};
