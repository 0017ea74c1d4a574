import { useEffect } from "react";
import { toUnreadTotal } from "#contract/settings/conversation-flags.ts";
import { setTitleCount } from "#lib/browser/page/page-title.ts";
import { subscribePushMessages } from "#lib/browser/push/push-messages.ts";
import { useConversations } from "#sync/hooks/use-conversations.ts";

/**
 * Shows the number of unread messages in the document title, and on the icon of the installed app where icons have one.
 * After a push the service worker shows that of its notifications, which this corrects.
 */
export const useAppBadge = (): void => {
  const conversations = useConversations();
  const unread = conversations && toUnreadTotal(conversations);
  useEffect(() => {
    if (unread === undefined) return;
    setTitleCount(unread);
    if (!("setAppBadge" in navigator)) return;
    const update = () => void navigator.setAppBadge(unread).catch(() => undefined);
    update();
    return subscribePushMessages(({ type }) => type === "push-arrived" && update());
  }, [unread]);
};
