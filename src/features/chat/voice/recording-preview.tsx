import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { inCall } from "#calls/call-state.ts";
import { Spinner } from "#components/controls/spinner.tsx";
import { formatDuration } from "#i18n/format.ts";
import type { VoiceRecording } from "./voice-recording.ts";

/** Player for a finished recording before it is sent or discarded. */
export function RecordingPreview({ recording }: { recording: VoiceRecording }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(recording.state.subscribe, recording.state.get);
  const audio = state.phase === "saved" ? state.audio : undefined;
  const player = useRef<HTMLAudioElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [url, setUrl] = useState<string>();
  const [isPlaying, setPlaying] = useState(false);
  const [playedMs, setPlayedMs] = useState(0);
  useEffect(() => {
    if (!audio) return;
    const url = URL.createObjectURL(audio);
    setUrl(url);
    return () => URL.revokeObjectURL(url);
  }, [audio]);
  useEffect(() => inCall.subscribe(() => inCall.get() && player.current?.pause()), []);
  // After a call interrupted the recording, focus returns to the play button instead of the send or discard button.
  const isInterrupted = state.phase === "saved" && state.isInterrupted;
  useEffect(() => {
    const composer = isInterrupted && button.current?.closest("form");
    if (!composer) return;
    const focusButton = () => button.current?.focus({ preventScroll: true });
    if (composer.contains(document.activeElement)) return focusButton();
    const onFocusIn = () => {
      composer.removeEventListener("focusin", onFocusIn);
      queueMicrotask(focusButton); // the code that moved the focus still checks where it went
    };
    composer.addEventListener("focusin", onFocusIn);
    return () => composer.removeEventListener("focusin", onFocusIn);
  }, [isInterrupted]);
  if (state.phase !== "saved") return <Spinner label={t("chat.attach.preparing")} className="text-xl text-accent" />;
  const toggle = () => {
    if (isPlaying) player.current?.pause();
    else void player.current?.play().catch(() => setPlaying(false));
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="-mx-3 grid size-12 shrink-0 place-items-center rounded-full text-[24px] text-accent"
        aria-label={t(isPlaying ? "chat.voice.pause" : "chat.voice.play")}
        onClick={toggle}
      >
        <span className={isPlaying ? "i-ph-pause-fill" : "i-ph-play-fill"} aria-hidden="true" />
      </button>
      <span className="min-w-0 flex-1 truncate text-sm">{t("chat.voice.kept")}</span>
      <span className="text-sm text-muted tabular-nums">
        {formatDuration(playedMs > 0 ? playedMs : state.ms, true)}
      </span>
      {/* biome-ignore lint/a11y/useMediaCaption: the user has just recorded it */}
      <audio
        ref={player}
        src={url}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setPlayedMs(0)}
        onTimeUpdate={({ currentTarget }) => setPlayedMs(currentTarget.currentTime * 1_000)}
      />
    </>
  );
}
