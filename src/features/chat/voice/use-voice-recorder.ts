import { type PointerEvent, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { inCall } from "#calls/call-state.ts";
import { loadOrTell } from "#components/overlays/load-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { isComposerCovered } from "#features/chat/composer/composer-overlay.ts";
import { t } from "#i18n/setup.ts";
import { findRecording } from "#sync/actions.ts";
import { Hold } from "./hold-gesture.ts";
import type { VoicePanel } from "./recorder-panel.tsx";
import type { VoiceSession } from "./voice-recording.ts";

const loadParts = async () => {
  const [{ VoicePanel }, { VoiceSession }] = await Promise.all([
    import("./recorder-panel.tsx"),
    import("./voice-recording.ts"),
  ]);
  return { VoicePanel, VoiceSession };
};

type Part = { Panel: typeof VoicePanel; session: VoiceSession };

/** The other side of a call would hear every word of it. */
const isRefused = (): boolean => {
  const is = inCall.get();
  if (is) showToast({ message: t("chat.voice.inCall") });
  return is;
};

/** What was recorded in a chat that was just left is kept within moments: nobody who comes back looks for it before. */
let leaving: Promise<void> = Promise.resolve();

const never = () => () => {};
const nothing = () => undefined;

/**
 * The microphone: held it records and release sends, a tap or the keyboard starts a recording that goes on by
 * itself. All that records is fetched at the first touch; leaving the chat keeps what was recorded.
 */
export const useVoice = (conversation: ConversationId, onSend: () => void) => {
  const [part, setPart] = useState<Part>();
  const [isStarting, setStarting] = useState(false);
  const [isLocked, setLocked] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  const hold = useRef<Hold>(undefined);
  // What a finger does is answered by what is, not by what was drawn last.
  const current = useRef<Part>(undefined);
  const isBusy = useRef(false);
  const isLeft = useRef(false);
  const session = part?.session;
  const phase = useSyncExternalStore(session?.state.subscribe ?? never, () => session?.state.get().phase, nothing);

  const take = useCallback((next: Part | undefined) => {
    current.current = next;
    setPart(next);
  }, []);
  const forget = useCallback(() => {
    take(undefined);
    setLocked(false);
    setCancelling(false);
  }, [take]);
  useEffect(() => {
    if (phase === "over") forget();
  }, [phase, forget]);

  useEffect(() => {
    let isCurrent = true;
    const offerKept = async () => {
      await leaving;
      if (!(await findRecording(conversation)) || !isCurrent) return;
      const parts = await loadOrTell(loadParts);
      const found = await parts?.VoiceSession.find(conversation);
      if (isCurrent && parts && found && !current.current) take({ Panel: parts.VoicePanel, session: found });
    };
    offerKept().catch((error) => console.warn("no kept recording to be read", error));
    return () => {
      isCurrent = false;
    };
  }, [conversation, take]);

  useEffect(
    () => () => {
      if (session) leaving = session.keep().catch((error) => console.warn("recording not kept", error));
    },
    [session],
  );

  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);

  const begin = async (held: Hold | undefined): Promise<void> => {
    if (current.current || isBusy.current) return;
    isBusy.current = true;
    setStarting(true);
    setLocked(!held);
    const parts = await loadOrTell(loadParts);
    isBusy.current = false;
    setStarting(false);
    // Nobody is recorded in a chat they left before this was here.
    if (!parts || held?.isOver || current.current || isLeft.current) return;
    if (isComposerCovered.get() || isRefused()) {
      hold.current = undefined;
      return;
    }
    take({ Panel: parts.VoicePanel, session: parts.VoiceSession.begin(conversation) });
  };

  const send = async (): Promise<void> => {
    onSend();
    await current.current?.session.send();
  };

  /** The finger is taken away by something else: nothing was said about sending, and nobody may be recorded unawares. */
  const interrupt = useCallback((): void => {
    if (!hold.current) return;
    hold.current = undefined;
    setCancelling(false);
    const session = current.current?.session;
    if (session?.state.get().phase === "recording") void session.keep();
    // The question for the permission takes the finger too: what it was put down for begins once that is given.
    else setLocked(true);
  }, []);
  useEffect(() => {
    const onHidden = () => {
      if (document.visibilityState === "hidden") interrupt();
    };
    document.addEventListener("visibilitychange", onHidden);
    return () => document.removeEventListener("visibilitychange", onHidden);
  }, [interrupt]);

  const lock = (): void => {
    hold.current = undefined;
    setLocked(true);
    setCancelling(false);
  };

  return {
    Panel: part?.Panel,
    session,
    phase: phase === "over" ? undefined : phase,
    isStarting,
    isLocked,
    isCancelling,
    send,
    /** False where there can be none. */
    startLocked(): boolean {
      if (isRefused()) return false;
      void begin(undefined);
      return true;
    },
    press(event: PointerEvent) {
      if (event.button !== 0 || current.current || isBusy.current || isRefused()) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const held = new Hold(event);
      hold.current = held;
      void begin(held);
    },
    move(event: PointerEvent) {
      const pull = hold.current?.pull(event);
      if (pull === "lock") lock();
      else if (pull) setCancelling(pull === "cancel");
    },
    release(event: PointerEvent) {
      const held = hold.current;
      const session = current.current?.session;
      hold.current = undefined;
      const end = held?.lift(event);
      if (!held || session?.state.get().phase === "kept") return; // ended by itself: its author decides what becomes of it
      if (end === "lock") return lock();
      held.isOver = true;
      setCancelling(false);
      if (end === "send" && session) {
        void send();
        return;
      }
      void session?.giveUp();
      if (end !== "cancel") showToast({ message: t("chat.voice.hint") });
    },
    interrupt,
  };
};

export type Voice = ReturnType<typeof useVoice>;
