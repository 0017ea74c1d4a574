import type { ChatView } from "#sync/hooks/use-live-query.ts";

/**
 * What a chat's pane has to show: messages, that there are none, that a full phone cannot take any in, that a phone
 * without a network does not know of any, or nothing yet.
 */
export type ChatViewState = "filled" | "empty" | "full" | "offline" | "waiting";

type ChatViewConditions = {
  /** The server's word on this chat is here. */
  isSynced: boolean;
  isOffline: boolean;
  /** The phone has no room for what the server tells. */
  isStorageFull: boolean;
};

/** Nothing is waited for that cannot come: on a phone without a network, or without room. */
export const toChatViewState = (
  chat: Pick<ChatView, "items" | "loading"> | undefined,
  { isSynced, isOffline, isStorageFull }: ChatViewConditions,
): ChatViewState => {
  if (!chat) return "waiting";
  if (chat.items.length > 0) return "filled";
  if (isStorageFull && (chat.loading || !isSynced)) return "full";
  if (!isSynced && isOffline && !chat.loading) return "offline";
  return chat.loading || !isSynced ? "waiting" : "empty";
};
