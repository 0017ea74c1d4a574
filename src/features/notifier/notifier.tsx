import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { callNow, inCall } from "#calls/call-state.ts";
import { isCallBefore } from "#calls/hooks.ts";
import { noteBehind } from "#calls/ui/messages-during-call.ts";
import { privateConversationId } from "#contract/ids.ts";
import { isRecording } from "#lib/browser/sound.ts";
import { running } from "#sync/engine.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { Banner } from "./banner.tsx";
import type { Surroundings } from "./decide.ts";
import { canChime, chime } from "./notification-sound.ts";
import { useBanner } from "./use-banner.ts";
import { watchArrivals } from "./watch.ts";

const chatPlace = /^\/app\/(chat|group)\/([^/]+)$/;

/** The conversation whose chat stands at this path. */
const openAt = (pathname: string, me: string): string | undefined => {
  const [, kind, id = ""] = chatPlace.exec(pathname) ?? [];
  return kind === "chat" ? privateConversationId(me, id) : kind && id;
};

const callIn = (): Surroundings["call"] => {
  if (isCallBefore()) return "before";
  const view = callNow.get();
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
  const sync = useSyncExternalStore(running.subscribe, running.get);
  const settings = useSettings();
  const [isHeld, setHeld] = useState(false);
  const { shown, show, close } = useBanner(isHeld);
  const open = sync && openAt(pathname, sync.userId);
  const look = useEffectEvent(() => ({
    open,
    isListShown,
    call: callIn(),
    isRecording: isRecording(),
    settings,
  }));
  const showBanner = useEffectEvent(show);
  useEffect(() => {
    if (!sync) return;
    return watchArrivals(sync, {
      openedAt,
      look: () => look(),
      hasFocus: () => document.hasFocus(),
      canChime,
      chime: () => void chime(),
      show: (id) => showBanner(id),
      noteBehind,
    });
  }, [sync, openedAt]);
  // What leads to where one is by now has nothing more to say.
  const isOver = shown !== undefined && (isListShown || shown.id === open);
  useEffect(() => {
    if (isOver) close();
  });
  return <Banner id={isOver ? undefined : shown?.id} settings={settings} onHold={setHeld} onClose={close} />;
}
