import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { useNavigate } from "react-router";
import { currentCall, inCall, isCallScreenOpen } from "#calls/call-state.ts";
import { addMessagesDuringCall } from "#calls/ui/messages-during-call.ts";
import { pageCover } from "#components/overlays/cover.ts";
import { privateConversationId } from "#contract/ids.ts";
import { hasSystemNotifications } from "#lib/browser/push/push-use.ts";
import { isRecording } from "#lib/media/recording-count.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { MessageBanner } from "./message-banner.tsx";
import type { NotificationContext } from "./notification-policy.ts";
import { canPlayChime, playChime } from "./notification-sound.ts";
import { notifyOfNewMessages } from "./notify-of-new-messages.ts";
import { resumeInvitation, resumeLink, resumeShare } from "./resume-visit.ts";
import { useAppBadge } from "./use-app-badge.ts";
import { useBanner } from "./use-banner.ts";

export { showNotice } from "./sync-notices.ts";

const chatPathPattern = /^\/app\/(chat|group)\/([^/]+)$/;

/** Returns the id of the conversation whose chat is open at this path. */
const toOpenConversation = (pathname: string, me: string): string | undefined => {
  const [, kind, id = ""] = chatPathPattern.exec(pathname) ?? [];
  return kind === "chat" ? privateConversationId(me, id) : kind && id;
};

const getCallPlacement = (): NotificationContext["call"] => {
  if (isCallScreenOpen()) return "foreground";
  const view = currentCall.get();
  return inCall.get() || (view && view.state.phase !== "ended") ? "background" : "none";
};

type NotifierProps = {
  /** Server time at which the page could first receive messages. */
  openedAt: number;
  pathname: string;
  /** True if the conversation list is visible. */
  isListShown: boolean;
};

/**
 * Announces what needs attention and is not on screen: messages of other conversations by a short sound and a banner
 * with a link, unread messages by a number on the app's icon, and what waited for the sign-in: shared content, an
 * opened personal link, an invitation.
 */
export default function Notifier({ openedAt, pathname, isListShown }: NotifierProps) {
  const engine = useSyncExternalStore(currentEngine.subscribe, currentEngine.get);
  const settings = useSettings();
  const navigate = useNavigate();
  const [isHeld, setHeld] = useState(false);
  const { shown, show, close } = useBanner(isHeld);
  const openConversation = engine && toOpenConversation(pathname, engine.userId);
  const getContext = useEffectEvent(() => ({
    openConversation,
    isCovered: pageCover.isCovered.get(),
    isListShown,
    call: getCallPlacement(),
    isRecording: isRecording(),
    hasSystemNotifications: hasSystemNotifications(engine?.userId),
    settings,
  }));
  const showBanner = useEffectEvent(show);
  useAppBadge();
  useEffect(resumeLink, []);
  const openScreen = useEffectEvent((path: string) => void navigate(path));
  useEffect(() => void resumeInvitation((path) => openScreen(path)), []);
  useEffect(() => void resumeShare().catch(() => undefined), []); // tried again at the next start
  useEffect(() => {
    if (!engine) return;
    return notifyOfNewMessages(engine, {
      openedAt,
      getContext: () => getContext(),
      hasFocus: () => document.hasFocus(),
      canPlaySound: canPlayChime,
      playSound: () => void playChime(),
      showBanner: (id) => showBanner(id),
      recordDuringCall: addMessagesDuringCall,
    });
  }, [engine, openedAt]);
  // The banner is obsolete once its conversation or the list is on screen.
  const isObsolete = shown !== undefined && (isListShown || shown.id === openConversation);
  useEffect(() => {
    if (isObsolete) close();
  });
  return (
    <MessageBanner
      conversationId={isObsolete ? undefined : shown?.id}
      settings={settings}
      onHold={setHeld}
      onClose={close}
    />
  );
}
