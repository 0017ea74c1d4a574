import { type PointerEvent, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { inCall } from "#calls/call-state.ts";
import { composerCover } from "#components/overlays/cover.ts";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";
import { hasRecordings } from "#sync/actions/drafts.ts";
import { trackDraftSave } from "#sync/drafts/pending-saves.ts";
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

/** During a call, shows a toast and returns true, because the other person would hear what is recorded. */
const warnIfInCall = (): boolean => {
  const isInCall = inCall.get();
  if (isInCall) showToast({ message: t("chat.voice.inCall") });
  return isInCall;
};

const subscribeToNoState = () => () => {};
const getNothing = () => undefined;

/**
 * Voice recorder of a chat. Holding the button records and releasing sends; a tap or the keyboard starts a locked
 * recording. The recording code is loaded at the first press. Leaving the chat saves the recording.
 */
export const useVoiceRecorder = (conversation: ConversationId, onSend: () => void) => {
  const [active, setActive] = useState<ActiveRecording>();
  const [isStarting, setStarting] = useState(false);
  const [isLocked, setLocked] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  const gesture = useRef<HoldGesture>(undefined);
  // For pointer handlers, which may run before the new recording is rendered.
  const current = useRef<ActiveRecording>(undefined);
  const isBusy = useRef(false);
  const isUnmounted = useRef(false);
  const recording = active?.recording;
  const phase = useSyncExternalStore(
    recording?.state.subscribe ?? subscribeToNoState,
    () => recording?.state.get().phase,
    getNothing,
  );

  const setCurrent = useCallback((next: ActiveRecording | undefined) => {
    current.current = next;
    setActive(next);
  }, []);
  const reset = useCallback(() => {
    setCurrent(undefined);
    setLocked(false);
    setCancelling(false);
  }, [setCurrent]);
  useEffect(() => {
    if (phase === "ended") reset();
  }, [phase, reset]);

  useEffect(() => {
    let isCurrent = true;
    const offerSaved = async () => {
      await waitForTakeover();
      if (!(await hasRecordings(conversation)) || !isCurrent) return;
      const code = await loadOrShowToast(loadRecorder);
      const saved = await code?.VoiceRecording.findSaved(conversation);
      if (isCurrent && code && saved && !current.current) setCurrent({ Panel: code.RecorderPanel, recording: saved });
    };
    offerSaved().catch((error) => console.warn("the saved recording cannot be read", error));
    return () => {
      isCurrent = false;
    };
  }, [conversation, setCurrent]);

  useEffect(() => () => trackDraftSave(conversation, recording?.stopAndSave()), [conversation, recording]);

  useEffect(() => {
    isUnmounted.current = false;
    return () => {
      isUnmounted.current = true;
    };
  }, []);

  const start = async (heldGesture: HoldGesture | undefined): Promise<void> => {
    if (current.current || isBusy.current) return;
    isBusy.current = true;
    setStarting(true);
    setLocked(!heldGesture);
    const code = await loadOrShowToast(loadRecorder);
    isBusy.current = false;
    setStarting(false);
    // The user may have left the chat or released the button while the code was loading.
    if (!code || heldGesture?.isReleased || current.current || isUnmounted.current) return;
    if (composerCover.isCovered.get() || warnIfInCall()) {
      gesture.current = undefined;
      return;
    }
    setCurrent({ Panel: code.RecorderPanel, recording: code.VoiceRecording.start(conversation) });
  };

  const send = async (): Promise<void> => {
    onSend();
    await current.current?.recording.send();
  };

  /**
   * Handles a hold that ends without a release, for example because the page was hidden. The recording is saved as a
   * draft, because the user chose neither to send nor to discard it.
   */
  const interrupt = useCallback((): void => {
    if (!gesture.current) return;
    gesture.current = undefined;
    setCancelling(false);
    const recording = current.current?.recording;
    if (recording?.state.get().phase === "recording") void recording.stopAndSave();
    // The browser's permission prompt interrupts the hold too. Once permission is granted, the recording starts locked.
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
    gesture.current = undefined;
    setLocked(true);
    setCancelling(false);
  };

  return {
    Panel: active?.Panel,
    recording,
    phase: phase === "ended" ? undefined : phase,
    isStarting,
    isLocked,
    isCancelling,
    send,
    /** Starts a recording without holding the button. Returns false if a call prevents it. */
    startLocked(): boolean {
      if (warnIfInCall()) return false;
      void start(undefined);
      return true;
    },
    press(event: PointerEvent) {
      if (event.button !== 0 || current.current || isBusy.current || warnIfInCall()) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const heldGesture = new HoldGesture(event);
      gesture.current = heldGesture;
      void start(heldGesture);
    },
    move(event: PointerEvent) {
      const dragAction = gesture.current?.getDragAction(event);
      if (dragAction === "lock") lock();
      else if (dragAction) setCancelling(dragAction === "cancel");
    },
    release(event: PointerEvent) {
      const heldGesture = gesture.current;
      const recording = current.current?.recording;
      gesture.current = undefined;
      const releaseAction = heldGesture?.getReleaseAction(event);
      // A recording that has ended by itself is saved, and the user decides in its preview whether to send it.
      if (!heldGesture || recording?.state.get().phase === "saved") return;
      if (releaseAction === "lock") return lock();
      heldGesture.isReleased = true;
      setCancelling(false);
      if (releaseAction === "send" && recording) {
        void send();
        return;
      }
      void recording?.requestDiscard();
      if (releaseAction !== "cancel") showToast({ message: t("chat.voice.hint") });
    },
    interrupt,
  };
};

export type VoiceRecorderControls = ReturnType<typeof useVoiceRecorder>;
