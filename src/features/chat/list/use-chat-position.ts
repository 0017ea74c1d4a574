import { useCallback, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Location, useLocation, useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { type ChatView, useChatHistory } from "#sync/hooks/use-chat.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

/** Part of a chat that is displayed: its latest messages, or those around one that was jumped to. */
export const useChatPosition = (conversation: ConversationId, chat: ChatView | undefined, isOffline: boolean) => {
  const { t } = useTranslation();
  const [targetSeq, setTargetSeq] = useState<number>();
  const [aroundSeq, setAroundSeq] = useState<number>();
  const clearTarget = useCallback(() => setTargetSeq(undefined), []);
  const jumpToLatest = useCallback(() => setAroundSeq(undefined), []);
  const history = useChatHistory(conversation, aroundSeq, isOffline, (error) => {
    jumpToLatest();
    clearTarget();
    const message = t(asSyncError(error).code === "offline" ? "errors.offline" : "chat.jumpFailed");
    showToast({ tone: "danger", title: t("common.error"), message });
  });
  // Without a network the messages may not come.
  const staysAtLatest = aroundSeq === undefined || (isOffline && !history);
  const displayed = staysAtLatest ? chat : history;
  /** Scrolls to a message. One outside the loaded messages opens as a separate history window around it. */
  const goToMessage = (seq: number) => {
    const isIn = (view: typeof chat) => view?.items.some((item) => item.seq === seq) ?? false;
    setTargetSeq(seq);
    if (!isIn(displayed)) setAroundSeq(isIn(chat) ? undefined : seq);
  };
  // Another screen, such as that of the starred messages, opens the chat at a message. Only once: after a reload the
  // message could not be fetched before the first view is gone.
  const { pathname, state: openedWith } = useLocation() as Location<{ openAt?: number } | null>;
  const navigate = useNavigate();
  const openAt = chat && openedWith?.openAt;
  const open = useEffectEvent((seq: number) => {
    goToMessage(seq);
    void navigate(pathname, { replace: true });
  });
  useEffect(() => {
    if (openAt !== undefined) open(openAt);
  }, [openAt]);
  return { displayed, key: staysAtLatest ? "now" : aroundSeq, targetSeq, clearTarget, goToMessage, jumpToLatest };
};
