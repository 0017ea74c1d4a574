import { type Ref, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { VoiceRecorderControls } from "./use-voice-recorder.ts";

const ignoredAfterSendMs = 600; // ignores the second tap of a double tap on "send"

type RecordButtonProps = {
  ref?: Ref<HTMLButtonElement>;
  recorder: VoiceRecorderControls;
  hasText: boolean;
  canSend: boolean;
};

/**
 * Round button of the composer: sends the text, or records while there is no text. One element in all states, so that a
 * held finger keeps its pointer capture.
 */
export function RecordButton({ ref, recorder, hasText, canSend }: RecordButtonProps) {
  const { t } = useTranslation();
  const isPressed = useRef(false);
  const sentAtMs = useRef(Number.NEGATIVE_INFINITY);
  const isHeld =
    recorder.recording !== undefined &&
    !recorder.isLocked &&
    recorder.phase !== "saved" &&
    recorder.phase !== "sending";
  const isRecording = recorder.recording !== undefined && !isHeld;
  const isMicrophone = !hasText && !isRecording;
  const label = t(isRecording ? "chat.voice.send" : isMicrophone ? "chat.voice.record" : "chat.send");
  return (
    <button
      ref={ref}
      type={isMicrophone || isRecording ? "button" : "submit"}
      disabled={isRecording ? recorder.phase === "sending" : hasText && !canSend}
      aria-label={label}
      title={label}
      className={`grid size-12 shrink-0 touch-none select-none place-items-center rounded-full bg-accent text-[20px] text-on-accent transition-[transform,background-color] hover:bg-accent-hover disabled:bg-raised disabled:text-muted ${
        isHeld ? "scale-125" : ""
      }`}
      onContextMenu={(event) => isMicrophone && event.preventDefault()}
      onPointerDown={(event) => {
        event.preventDefault(); // keeps the focus, and with it the on-screen keyboard
        isPressed.current = isMicrophone;
        if (isMicrophone && event.timeStamp - sentAtMs.current > ignoredAfterSendMs) recorder.press(event);
      }}
      onPointerMove={recorder.move}
      onPointerUp={recorder.release}
      onPointerCancel={recorder.interrupt}
      onLostPointerCapture={recorder.interrupt}
      onClick={(event) => {
        // A pointer press was handled by onPointerDown; keyboards and screen readers only send a click.
        const wasPressed = isPressed.current;
        isPressed.current = false;
        if (wasPressed) return;
        const isDoubleTap = event.timeStamp - sentAtMs.current <= ignoredAfterSendMs;
        if (!isMicrophone) sentAtMs.current = event.timeStamp;
        if (isRecording) void recorder.send();
        else if (isMicrophone && !isDoubleTap) recorder.startLocked();
      }}
    >
      <span
        className={
          recorder.isStarting ? "spinner" : isMicrophone ? "i-ph-microphone-fill" : "i-ph-paper-plane-right-fill"
        }
        aria-hidden="true"
      />
    </button>
  );
}
