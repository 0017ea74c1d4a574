import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { inCall } from "#calls/call-state.ts";
import { Spinner } from "#components/controls/spinner.tsx";
import { formatDuration } from "#i18n/format.ts";
import type { VoiceRecording } from "./voice-recording.ts";

/** A recording that waits to be sent or thrown away: one may listen to it first. */
export function RecordingPreview({ session }: { session: VoiceRecording }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  const audio = state.phase === "kept" ? state.audio : undefined;
  const player = useRef<HTMLAudioElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [url, setUrl] = useState<string>();
  const [isPlaying, setPlaying] = useState(false);
  const [heardMs, setHeardMs] = useState(0);
  useEffect(() => {
    if (!audio) return;
    const url = URL.createObjectURL(audio);
    setUrl(url);
    return () => URL.revokeObjectURL(url);
  }, [audio]);
  useEffect(() => inCall.subscribe(() => inCall.get() && player.current?.pause()), []);
  // Whoever comes back from the call that cut it short comes back to it, not to what sends half a message or drops it.
  const isCut = state.phase === "kept" && state.isInterrupted;
  useEffect(() => {
    const composer = isCut && button.current?.closest("form");
    if (!composer) return;
    const take = () => button.current?.focus({ preventScroll: true });
    if (composer.contains(document.activeElement)) return take();
    const onFocusIn = () => {
      composer.removeEventListener("focusin", onFocusIn);
      queueMicrotask(take); // whoever gave the focus looks whether it was taken
    };
    composer.addEventListener("focusin", onFocusIn);
    return () => composer.removeEventListener("focusin", onFocusIn);
  }, [isCut]);
  if (state.phase !== "kept") return <Spinner label={t("chat.attach.preparing")} className="text-xl text-accent" />;
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
      <span className="text-sm text-muted tabular-nums">{formatDuration(heardMs > 0 ? heardMs : state.ms, true)}</span>
      {/* biome-ignore lint/a11y/useMediaCaption: what one has just said oneself */}
      <audio
        ref={player}
        src={url}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setHeardMs(0)}
        onTimeUpdate={({ currentTarget }) => setHeardMs(currentTarget.currentTime * 1_000)}
      />
    </>
  );
}
