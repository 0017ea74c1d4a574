import { focusTitle } from "#components/focus/title-focus.ts";
import { toConversationPath } from "#components/messages/conversation-name.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";

const watchMs = 5_000; // the list shows within this time what was chosen

/**
 * Focuses the conversation that takes a row's place once the row has left the list and the focus is lost with it. To be
 * called before an action that may remove the row; a dialog may close meanwhile.
 */
export const keepFocusAfterRemoval = (item: ConversationListItem): void => {
  const row = document.querySelector(`li > * a[href="${toConversationPath(item)}"]`)?.closest("li");
  const place = Number(row?.getAttribute("aria-posinset"));
  const list = row?.parentElement;
  if (!row || !list) return;
  const observer = new MutationObserver(() => {
    if (row.isConnected || document.activeElement !== document.body) return;
    observer.disconnect();
    const rows = [...list.querySelectorAll("li")];
    const next = rows.find((other) => Number(other.getAttribute("aria-posinset")) === place) ?? rows.at(-1);
    if (list.isConnected && next) next.querySelector("a")?.focus();
    else focusTitle();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), watchMs);
};
