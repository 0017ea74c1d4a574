import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { currentCall, inCall } from "#calls/call-state.ts";
import { isCallScreenOpen } from "#calls/hooks.ts";
import { addMessagesDuringCall } from "#calls/ui/messages-during-call.ts";
import { privateConversationId } from "#contract/ids.ts";
import { isRecording } from "#lib/browser/sound.ts";
import { activeEngine } from "#sync/engine.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { MessageBanner } from "./message-banner.tsx";
import type { NotificationContext } from "./notification-policy.ts";
import { canPlayChime, playChime } from "./notification-sound.ts";
import { notifyOfNewMessages } from "./notify-of-new-messages.ts";
import { useBanner } from "./use-banner.ts";

const chatPathPattern = /^\/app\/(chat|group)\/([^/]+)$/;

/** The conversation whose chat stands at this path. */
const toOpenConversation = (pathname: string, me: string): string | undefined => {
  const [, kind, id = ""] = chatPathPattern.exec(pathname) ?? [];
  return kind === "chat" ? privateConversationId(me, id) : kind && id;
};

const getCallPlacement = (): NotificationContext["call"] => {
  if (isCallScreenOpen()) return "before";
  const view = currentCall.get();
  return inCall.get() || (view && view.state.at !== "ended") ? "beside" : "none";
};

type NotifierProps = {
  /** When this page could first be reached, by the server's clock. */
  openedAt: number;
  pathname: string;
  /** The list of conversations is in sight. */
  isListShown: boolean;
};

/** Says what arrives while something else is looked at: a short sound, and a banner that leads there. */
export default function Notifier({ openedAt, pathname, isListShown }: NotifierProps) {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get);
  const settings = useSettings();
  const [isHeld, setHeld] = useState(false);
  const { shown, show, close } = useBanner(isHeld);
  const open = sync && toOpenConversation(pathname, sync.userId);
  const look = useEffectEvent(() => ({
    openConversation: open,
    isListShown,
    call: getCallPlacement(),
    isRecording: isRecording(),
    settings,
  }));
  const showBanner = useEffectEvent(show);
  useEffect(() => {
    if (!sync) return;
    return notifyOfNewMessages(sync, {
      openedAt,
      getContext: () => look(),
      hasFocus: () => document.hasFocus(),
      canPlaySound: canPlayChime,
      playSound: () => void playChime(),
      showBanner: (id) => showBanner(id),
      recordDuringCall: addMessagesDuringCall,
    });
  }, [sync, openedAt]);
  // What leads to where one is by now has nothing more to say.
  const isOver = shown !== undefined && (isListShown || shown.id === open);
  useEffect(() => {
    if (isOver) close();
  });
  return (
    <MessageBanner
      conversationId={isOver ? undefined : shown?.id}
      settings={settings}
      onHold={setHeld}
      onClose={close}
    />
  );
}
