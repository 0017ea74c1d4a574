import { type PointerEvent, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { inCall } from "#calls/call-state.ts";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { isComposerCovered } from "#features/chat/composer/composer-overlay.ts";
import { t } from "#i18n/setup.ts";
import { findRecording } from "#sync/actions.ts";
import { HoldGesture } from "./hold-gesture.ts";
import type { RecorderPanel } from "./recorder-panel.tsx";
import type { VoiceRecording } from "./voice-recording.ts";

const loadRecorder = async () => {
  const [{ RecorderPanel }, { VoiceRecording }] = await Promise.all([
    import("./recorder-panel.tsx"),
    import("./voice-recording.ts"),
  ]);
  return { RecorderPanel, VoiceRecording };
};

type ActiveRecording = { Panel: typeof RecorderPanel; recording: VoiceRecording };

/** The other side of a call would hear every word of it. */
const warnIfInCall = (): boolean => {
  const is = inCall.get();
  if (is) showToast({ message: t("chat.voice.inCall") });
  return is;
};

/** What was recorded in a chat that was just left is kept within moments: nobody who comes back looks for it before. */
let savingPreviousRecording: Promise<void> = Promise.resolve();

const subscribeToNoState = () => () => {};
const getNothing = () => undefined;

/**
 * The microphone: held it records and release sends, a tap or the keyboard starts a recording that goes on by
 * itself. All that records is fetched at the first touch; leaving the chat keeps what was recorded.
 */
export const useVoiceRecorder = (conversation: ConversationId, onSend: () => void) => {
  const [part, setPart] = useState<ActiveRecording>();
  const [isStarting, setStarting] = useState(false);
  const [isLocked, setLocked] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  const hold = useRef<HoldGesture>(undefined);
  // What a finger does is answered by what is, not by what was drawn last.
  const current = useRef<ActiveRecording>(undefined);
  const isBusy = useRef(false);
  const isLeft = useRef(false);
  const session = part?.recording;
  const phase = useSyncExternalStore(
    session?.state.subscribe ?? subscribeToNoState,
    () => session?.state.get().phase,
    getNothing,
  );

  const take = useCallback((next: ActiveRecording | undefined) => {
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
      await savingPreviousRecording;
      if (!(await findRecording(conversation)) || !isCurrent) return;
      const parts = await loadOrShowToast(loadRecorder);
      const found = await parts?.VoiceRecording.findSaved(conversation);
      if (isCurrent && parts && found && !current.current) take({ Panel: parts.RecorderPanel, recording: found });
    };
    offerKept().catch((error) => console.warn("no kept recording to be read", error));
    return () => {
      isCurrent = false;
    };
  }, [conversation, take]);

  useEffect(
    () => () => {
      if (session)
        savingPreviousRecording = session.stopAndSave().catch((error) => console.warn("recording not kept", error));
    },
    [session],
  );

  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);

  const begin = async (held: HoldGesture | undefined): Promise<void> => {
    if (current.current || isBusy.current) return;
    isBusy.current = true;
    setStarting(true);
    setLocked(!held);
    const parts = await loadOrShowToast(loadRecorder);
    isBusy.current = false;
    setStarting(false);
    // Nobody is recorded in a chat they left before this was here.
    if (!parts || held?.isReleased || current.current || isLeft.current) return;
    if (isComposerCovered.get() || warnIfInCall()) {
      hold.current = undefined;
      return;
    }
    take({ Panel: parts.RecorderPanel, recording: parts.VoiceRecording.start(conversation) });
  };

  const send = async (): Promise<void> => {
    onSend();
    await current.current?.recording.send();
  };

  /** The finger is taken away by something else: nothing was said about sending, and nobody may be recorded unawares. */
  const interrupt = useCallback((): void => {
    if (!hold.current) return;
    hold.current = undefined;
    setCancelling(false);
    const session = current.current?.recording;
    if (session?.state.get().phase === "recording") void session.stopAndSave();
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
      if (warnIfInCall()) return false;
      void begin(undefined);
      return true;
    },
    press(event: PointerEvent) {
      if (event.button !== 0 || current.current || isBusy.current || warnIfInCall()) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const held = new HoldGesture(event);
      hold.current = held;
      void begin(held);
    },
    move(event: PointerEvent) {
      const pull = hold.current?.getDragAction(event);
      if (pull === "lock") lock();
      else if (pull) setCancelling(pull === "cancel");
    },
    release(event: PointerEvent) {
      const held = hold.current;
      const session = current.current?.recording;
      hold.current = undefined;
      const end = held?.getReleaseAction(event);
      if (!held || session?.state.get().phase === "kept") return; // ended by itself: its author decides what becomes of it
      if (end === "lock") return lock();
      held.isReleased = true;
      setCancelling(false);
      if (end === "send" && session) {
        void send();
        return;
      }
      void session?.requestDiscard();
      if (end !== "cancel") showToast({ message: t("chat.voice.hint") });
    },
    interrupt,
  };
};

export type VoiceRecorderControls = ReturnType<typeof useVoiceRecorder>;
