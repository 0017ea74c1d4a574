import type { MenuAnchor } from "#components/overlays/menu.tsx";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

/** Running action on a message, with the anchor of its menu. */
export type MessageAction = {
  item: ChatItem;
  anchor: MenuAnchor;
  step: "menu" | "save" | "forward" | "delete" | "receipts" | "info" | "reactors" | "emoji";
};
