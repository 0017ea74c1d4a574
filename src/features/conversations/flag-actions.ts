// @unocss-include – the icons below are CSS classes, and UnoCSS scans only component files by default.
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { type ConversationFlags, type FlagChange, toPlaceChange } from "#contract/settings/conversation-flags.ts";
import { t } from "#i18n/setup.ts";
import { markReadUpTo, setConversationFlags } from "#sync/actions/conversations.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type SwipeAction, trackRowSwipe } from "./row-swipe.ts";

export type FlagAction = "read" | "unread" | "archive" | "unarchive" | "pin" | "unpin";

const changes = {
  read: { marked: false },
  unread: { marked: true },
  archive: { archived: true },
  unarchive: { archived: false },
  pin: { pinned: true },
  unpin: { pinned: false },
} as const satisfies Record<FlagAction, FlagChange>;

const showFailure = (error: unknown): void => {
  const isTooMany = error instanceof SyncError && error.code === "too_many_pinned";
  showToast({ tone: "danger", message: t(isTooMany ? "errors.too_many_pinned" : "masolo.flagFailed") });
};

/** Runs an action on a row of the list. Offers to take it back if the row thereby leaves the list that is shown. */
export const runFlagAction = async (action: FlagAction, item: ConversationListItem): Promise<void> => {
  let before: ConversationFlags;
  try {
    if (action === "read") markReadUpTo(item.id, Number.MAX_SAFE_INTEGER);
    before = await setConversationFlags(item.id, changes[action]);
  } catch (error) {
    showFailure(error);
    return;
  }
  const message = t(`masolo.flagged.${action}`);
  if (action !== "archive" && action !== "unarchive") return announceResult(message);
  const undo = () => void setConversationFlags(item.id, toPlaceChange(before)).catch(showFailure);
  showToast({ message, action: { label: t("masolo.undo"), onSelect: undo } });
};

/** Follows a finger on a row: to the right it marks the conversation as read or unread, to the left it archives it. */
export const trackFlagSwipe = (row: HTMLElement, down: PointerEvent, item: ConversationListItem): void => {
  const toAction = (action: FlagAction, icon: string): SwipeAction => ({
    icon,
    run: () => void runFlagAction(action, item),
  });
  trackRowSwipe(row, down, {
    right:
      item.unread > 0 || item.marked ? toAction("read", "i-ph-checks") : toAction("unread", "i-ph-chat-circle-dots"),
    left: toAction(item.archived ? "unarchive" : "archive", "i-ph-archive"),
  });
};
