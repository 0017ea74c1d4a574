import { type Ref, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { VoiceRecorderControls } from "./use-voice-recorder.ts";

const ignoredAfterSendMs = 600; // a second tap on "send" is no wish to speak

type RecordButtonProps = {
  ref?: Ref<HTMLButtonElement>;
  recorder: VoiceRecorderControls;
  hasText: boolean;
  canSend: boolean;
};

/**
 * The round button at the thumb: sends what is written, and is a microphone while nothing is. One element all
 * the time, so that a finger that holds it keeps it.
 */
export function RecordButton({ ref, recorder, hasText, canSend }: RecordButtonProps) {
  const { t } = useTranslation();
  const isPressed = useRef(false);
  const sentMs = useRef(Number.NEGATIVE_INFINITY);
  const isHeld =
    recorder.session !== undefined && !recorder.isLocked && recorder.phase !== "kept" && recorder.phase !== "sending";
  const isVoice = recorder.session !== undefined && !isHeld;
  const isMicrophone = !hasText && !isVoice;
  const label = t(isVoice ? "chat.voice.send" : isMicrophone ? "chat.voice.record" : "chat.send");
  return (
    <button
      ref={ref}
      type={isMicrophone || isVoice ? "button" : "submit"}
      disabled={isVoice ? recorder.phase === "sending" : hasText && !canSend}
      aria-label={label}
      title={label}
      className={`grid size-12 shrink-0 touch-none select-none place-items-center rounded-full bg-accent text-[20px] text-on-accent transition-[transform,background-color] hover:bg-accent-hover disabled:bg-raised disabled:text-muted ${
        isHeld ? "scale-125" : ""
      }`}
      onContextMenu={(event) => isMicrophone && event.preventDefault()}
      onPointerDown={(event) => {
        event.preventDefault(); // the focus, and with it a phone's keyboard, stays where it is
        isPressed.current = isMicrophone;
        if (isMicrophone && event.timeStamp - sentMs.current > ignoredAfterSendMs) recorder.press(event);
      }}
      onPointerMove={recorder.move}
      onPointerUp={recorder.release}
      onPointerCancel={recorder.interrupt}
      onLostPointerCapture={recorder.interrupt}
      onClick={(event) => {
        // The pointer that pressed the microphone was heard already; a keyboard or a screen reader only clicks.
        const wasPressed = isPressed.current;
        isPressed.current = false;
        if (wasPressed) return;
        const isSecond = event.timeStamp - sentMs.current <= ignoredAfterSendMs;
        if (!isMicrophone) sentMs.current = event.timeStamp;
        if (isVoice) void recorder.send();
        else if (isMicrophone && !isSecond) recorder.startLocked();
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
