import type { ChatView } from "#sync/hooks/use-live-query.ts";

/**
 * What a chat's pane has to show: messages, that there are none, that a full phone cannot take any in, that a phone
 * without a network does not know of any, or nothing yet.
 */
export type PaneState = "filled" | "empty" | "full" | "offline" | "waiting";

type Around = {
  /** The server's word on this chat is here. */
  isHeardOf: boolean;
  isOffline: boolean;
  /** The phone has no room for what the server tells. */
  isFull: boolean;
};

/** Nothing is waited for that cannot come: on a phone without a network, or without room. */
export const paneStateOf = (
  chat: Pick<ChatView, "items" | "loading"> | undefined,
  { isHeardOf, isOffline, isFull }: Around,
): PaneState => {
  if (!chat) return "waiting";
  if (chat.items.length > 0) return "filled";
  if (isFull && (chat.loading || !isHeardOf)) return "full";
  if (!isHeardOf && isOffline && !chat.loading) return "offline";
  return chat.loading || !isHeardOf ? "waiting" : "empty";
};
