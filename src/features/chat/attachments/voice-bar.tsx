import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { IconButton } from "#components/controls/icon-button.tsx";
import { formatDuration } from "#i18n/format.ts";
import type { VoiceTrack } from "./current-voice.ts";
import { closeVoice, getVoicePlayback, pauseVoice, resumeVoice, subscribeToVoicePlayback } from "./voice-player.ts";

type VoiceBarProps = {
  track: VoiceTrack;
  /** The chat of the message is open: its bubble has the same controls. */
  isInChat: boolean;
};

/** Controls of a voice message that goes on playing after its chat was left. */
export default function VoiceBar({ track: { body, path, label }, isInChat }: VoiceBarProps) {
  const { t } = useTranslation();
  const playback = useSyncExternalStore(subscribeToVoicePlayback, () => getVoicePlayback(body.file));
  if (isInChat) return null;
  const isPlaying = playback.state !== "idle";
  return (
    <section
      aria-label={t("messages.voicePlaying")}
      className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line bg-accent-soft px-2 py-1 text-text"
    >
      <IconButton
        icon={playback.state === "loading" ? "spinner" : isPlaying ? "i-ph-pause-fill" : "i-ph-play-fill"}
        label={t(isPlaying ? "messages.pauseVoice" : "messages.playVoice")}
        className="text-accent"
        onClick={isPlaying ? pauseVoice : resumeVoice}
      />
      <Link
        to={path}
        className="flex min-h-12 min-w-0 flex-1 flex-col justify-center rounded-card px-2 leading-tight hover:bg-raised"
      >
        <bdi className="truncate font-semibold">{label}</bdi>
        <span className="text-sm tabular-nums">{`${formatDuration(playback.ms, true)} / ${formatDuration(body.ms, true)}`}</span>
      </Link>
      <IconButton icon="i-ph-x" label={t("messages.closeVoice")} onClick={closeVoice} />
    </section>
  );
}
