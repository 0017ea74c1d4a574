import { type KeyboardEvent, useMemo, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { readPath } from "#contract/files.ts";
import { formatDuration } from "#i18n/format.ts";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useUpload } from "#sync/hooks/use-files.ts";
import { CancelUploadButton, UploadProgressRing, UploadProgressText } from "./upload-progress.tsx";
import { type AttachmentProps, useAttachment } from "./use-attachment.ts";
import {
  cyclePlaybackRate,
  getPlaybackRate,
  getVoicePlayback,
  pauseVoice,
  playVoice,
  seekVoice,
  subscribeToVoicePlayback,
} from "./voice-player.ts";

const downloadedMaxBytes = 160_000; // up to this size (50 s) a file is loaded before playing; larger ones are streamed
const seekStepMs = 2_000;
const seekPageMs = 10_000;
const barGap = 4;
const waveformHeight = 32;
const levelDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const flatWaveform = "A".repeat(40);

/** SVG path of the waveform: one bar per digit, from silent to loud. */
const toWaveformPath = (waveform: string): string =>
  Array.from(waveform, (digit, index) => {
    const half = 1 + (Math.max(0, levelDigits.indexOf(digit)) / 63) * (waveformHeight / 2 - 2.5);
    return `M${index * barGap + 2} ${waveformHeight / 2 - half}v${2 * half}`;
  }).join("");

function Waveform({ waveform, share }: { waveform: string; share: number }) {
  const bars = waveform || flatWaveform;
  const path = useMemo(() => toWaveformPath(bars), [bars]);
  return (
    <svg
      viewBox={`0 0 ${bars.length * barGap} ${waveformHeight}`}
      preserveAspectRatio="none"
      className="absolute inset-x-0 top-0 h-7 w-full"
      fill="none"
      strokeWidth="2.4"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d={path} className="stroke-field" opacity="0.7" />
      <path
        d={path}
        className="stroke-accent transition-[clip-path] duration-250 ease-linear"
        style={{ clipPath: `inset(0 ${(1 - share) * 100}% 0 0)` }}
      />
    </svg>
  );
}

/**
 * Voice message of a bubble. It is loaded and plays on when it is scrolled out of view or its chat is left, and
 * stops when another one starts.
 */
export default function VoiceMessage({ conversation, item, body, description, onDelete }: AttachmentProps<"voice">) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { file, ms: totalMs } = body;
  const { url, isUnreachable, request } = useAttachment(conversation, body);
  const playback = useSyncExternalStore(subscribeToVoicePlayback, () => getVoicePlayback(file));
  const rate = useSyncExternalStore(subscribeToVoicePlayback, getPlaybackRate);
  const liveUpload = useUpload(item.upload && file);
  const upload = item.upload && (liveUpload ?? item.upload);
  const isBusy = playback.state === "loading";
  const isPlaying = playback.state === "playing";

  const track = { conversation, body, path: location.pathname, label: description };
  const toggle = () => {
    if (isPlaying || isBusy) pauseVoice();
    else if (body.size > downloadedMaxBytes && !isUnreachable) playVoice(track, readPath(conversation, file));
    else if (url || request()) playVoice(track);
  };
  const seek = (ms: number) => seekVoice(track, Math.max(0, Math.min(totalMs, ms)));
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: -seekStepMs,
      ArrowDown: -seekStepMs,
      ArrowRight: seekStepMs,
      ArrowUp: seekStepMs,
      PageDown: -seekPageMs,
      PageUp: seekPageMs,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    seek(playback.ms + step);
  };

  const hasStarted = playback.ms > 0 || isPlaying;
  const totalText = formatDuration(totalMs, true);
  const playedText = formatDuration(playback.ms, true);
  return (
    <div className="flex items-center gap-2">
      <button
        type="button"
        aria-label={`${t(isPlaying || isBusy ? "messages.pauseVoice" : "messages.playVoice")} – ${description}`}
        className="grid size-12 shrink-0 place-items-center rounded-full bg-accent text-[24px] text-on-accent hover:bg-accent-hover"
        onClick={toggle}
      >
        {isBusy ? (
          <span className="spinner" aria-hidden="true" />
        ) : (
          <span className={isPlaying ? "i-ph-pause-fill" : "i-ph-play-fill"} aria-hidden="true" />
        )}
      </button>
      <div className="relative h-12 min-w-0 flex-1">
        <input
          type="range"
          min={0}
          max={totalMs}
          step={100}
          value={playback.ms}
          aria-label={t("messages.seekVoice")}
          aria-valuetext={t("messages.heardOf", { heard: playedText, whole: totalText })}
          className="peer absolute inset-0 z-1 m-0 size-full cursor-pointer touch-pan-y opacity-0"
          onChange={(event) => seek(event.target.valueAsNumber)}
          onKeyDown={onKeyDown}
        />
        <div className="absolute inset-x-0 top-0 h-7 rounded peer-focus-visible:outline-3 peer-focus-visible:outline-accent peer-focus-visible:outline-solid">
          <Waveform waveform={body.waveform} share={playback.ms / totalMs} />
        </div>
        <span className="absolute inset-x-0 bottom-0 truncate text-xs leading-[18px] text-muted tabular-nums">
          {upload ? <UploadProgressText upload={upload} /> : hasStarted ? `${playedText} / ${totalText}` : totalText}
        </span>
      </div>
      {upload && item.cid ? (
        <>
          <span className="text-accent">
            <UploadProgressRing upload={upload} cid={item.cid} />
          </span>
          <CancelUploadButton onCancel={onDelete} />
        </>
      ) : (
        <button
          type="button"
          aria-label={t("messages.rate", { rate: rate.toLocaleString(locales[language]) })}
          className="grid size-12 shrink-0 justify-items-center pt-1"
          onClick={cyclePlaybackRate}
        >
          <span className="h-fit min-w-10 rounded-full border border-field px-1.5 text-xs leading-[18px] font-semibold text-muted tabular-nums">
            {rate.toLocaleString(locales[language])}×
          </span>
        </button>
      )}
    </div>
  );
}
