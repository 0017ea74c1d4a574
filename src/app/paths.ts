import { type ConversationId, privateConversationId, type Uuid } from "#contract/ids.ts";

/** Conversation, tab bar and panes of a path, without the code of its screen. */

/** Conversation that a path opens, if any. */
export const findConversation = (pathname: string, me: Uuid): ConversationId | undefined => {
  const [, kind, id = ""] = /^\/app\/(chat|group)\/([0-9a-f-]{36})$/.exec(pathname) ?? [];
  if (kind === undefined) return undefined;
  return kind === "chat" ? privateConversationId(me, id) : id;
};

const pathsWithoutTabBar = ["/app/user/", "/app/chat/", "/app/group/", "/app/create-group", "/app/share/"];
export const hasTabBar = (pathname: string): boolean =>
  !pathsWithoutTabBar.some((prefix) => pathname.startsWith(prefix));

/** Minimum width for showing the list and the open chat side by side. */
export const twoPanesQuery = "(min-width: 1024px)";
export const hasTwoPanes = (): boolean => matchMedia(twoPanesQuery).matches;
