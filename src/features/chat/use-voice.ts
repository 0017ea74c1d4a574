import { type PointerEvent, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { ConversationId } from "../../../contract/ids";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import { findRecording } from "../../sync/actions";
import { loadOrTell } from "./later";
import { isTap, pullOf } from "./voice-gesture";
import type { VoicePanel } from "./voice-panel";
import type { VoiceSession } from "./voice-session";

const loadParts = async () => {
  const [{ VoicePanel }, { VoiceSession }] = await Promise.all([import("./voice-panel"), import("./voice-session")]);
  return { VoicePanel, VoiceSession };
};

type Part = { Panel: typeof VoicePanel; session: VoiceSession };
type Hold = { at: number; x: number; y: number; isOver: boolean };

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
  const session = part?.session;
  const phase = useSyncExternalStore(session?.state.subscribe ?? never, () => session?.state.get().phase, nothing);

  const forget = useCallback(() => {
    setPart(undefined);
    setLocked(false);
    setCancelling(false);
  }, []);
  useEffect(() => {
    if (phase === "over") forget();
  }, [phase, forget]);

  useEffect(() => {
    let isCurrent = true;
    const offerKept = async () => {
      if (!(await findRecording(conversation)) || !isCurrent) return;
      const parts = await loadOrTell(loadParts);
      const found = await parts?.VoiceSession.find(conversation);
      if (isCurrent && parts && found) setPart((before) => before ?? { Panel: parts.VoicePanel, session: found });
    };
    offerKept().catch((error) => console.warn("no kept recording to be read", error));
    return () => {
      isCurrent = false;
    };
  }, [conversation]);

  useEffect(() => () => void session?.keep(), [session]);

  const begin = async (held: Hold | undefined): Promise<void> => {
    if (part || isStarting) return;
    setStarting(true);
    setLocked(!held);
    const parts = await loadOrTell(loadParts);
    setStarting(false);
    if (!parts || held?.isOver) return;
    setPart({ Panel: parts.VoicePanel, session: parts.VoiceSession.begin(conversation) });
  };

  const send = async (): Promise<void> => {
    onSend();
    await session?.send();
  };

  const release = (event: PointerEvent, isCancelled: boolean): void => {
    const held = hold.current;
    hold.current = undefined;
    if (!held || isLocked) return;
    // What interrupts the touch (a permission to be given, a system gesture) must not end the recording.
    if (isCancelled || isTap(event.timeStamp - held.at)) {
      setLocked(true);
      return;
    }
    held.isOver = true;
    if (isCancelling) void session?.discard();
    else if (session) void send();
    else showToast({ message: t("chat.voice.hint") });
  };

  return {
    Panel: part?.Panel,
    session,
    phase: phase === "over" ? undefined : phase,
    isStarting,
    isLocked,
    isCancelling,
    send,
    startLocked: () => void begin(undefined),
    press(event: PointerEvent) {
      if (event.button !== 0 || part || isStarting) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const held = { at: event.timeStamp, x: event.clientX, y: event.clientY, isOver: false };
      hold.current = held;
      void begin(held);
    },
    move(event: PointerEvent) {
      const held = hold.current;
      if (!held || isLocked) return;
      const pull = pullOf(event.clientX - held.x, event.clientY - held.y);
      if (pull === "lock") setLocked(true);
      setCancelling(pull === "cancel");
    },
    release: (event: PointerEvent) => release(event, false),
    interrupt: (event: PointerEvent) => release(event, true),
  };
};

export type Voice = ReturnType<typeof useVoice>;
