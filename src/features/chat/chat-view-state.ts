import type { ChatView } from "#sync/hooks/use-chat.ts";

/**
 * State of the message area: `filled` with messages, `empty`, `full` (no storage left for the history), `offline` (the
 * history was never loaded) or `waiting` for the first messages.
 */
export type ChatViewState = "filled" | "empty" | "full" | "offline" | "waiting";

type ChatViewConditions = {
  /** The server's state of this chat has arrived. */
  isSynced: boolean;
  isOffline: boolean;
  /** The device has no storage left for server data. */
  isStorageFull: boolean;
};

/** State of the message area. Never `waiting` for data that cannot arrive: offline or with a full storage. */
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
