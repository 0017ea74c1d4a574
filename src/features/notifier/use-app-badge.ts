import { useEffect } from "react";
import { useConversations } from "#sync/hooks/use-conversations.ts";

/** Shows the number of unread messages on the icon of the installed app, where icons have one. */
export const useAppBadge = (): void => {
  const loud = useConversations()?.filter(({ muted }) => !muted);
  const unread = loud?.reduce((sum, conversation) => sum + conversation.unread, 0);
  useEffect(() => {
    if (unread === undefined || !("setAppBadge" in navigator)) return;
    void navigator.setAppBadge(unread).catch(() => undefined);
  }, [unread]);
};
