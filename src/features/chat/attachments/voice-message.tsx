import { type KeyboardEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { inCall } from "#calls/call-state.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { readPath } from "#contract/files.ts";
import { formatDuration } from "#i18n/format.ts";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import { activeEngine } from "#sync/engine.ts";
import { useUpload } from "#sync/hooks/use-live-query.ts";
import type { AttachmentProps } from "./attachment-props.ts";
import { CancelUploadButton, UploadProgressRing, UploadProgressText } from "./upload-progress.tsx";
import { useAttachment } from "./use-attachment.ts";
import {
  cyclePlaybackRate,
  getPlaybackRate,
  getVoicePlayback,
  pauseVoice,
  playVoice,
  seekVoice,
  subscribeToVoicePlayback,
} from "./voice-player.ts";

const downloadedMaxBytes = 160_000; // up to this (50 s) it is fetched once and then played; longer ones play as they come
const seekStepMs = 2_000;
const seekPageMs = 10_000;
const barGap = 4;
const waveformHeight = 32;
const levelDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const flatWaveform = "A".repeat(40);

/** The waveform as one path: a bar for each digit, from silent to loud. */
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

/** A voice note in its bubble. It goes on sounding when scrolled away, and stops when another begins. */
export default function VoiceMessage({ conversation, item, body, description }: AttachmentProps<"voice">) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { file, ms: wholeMs } = body;
  const { url, state, load, isUnreachable, request } = useAttachment(conversation, body);
  const voice = useSyncExternalStore(subscribeToVoicePlayback, () => getVoicePlayback(file));
  const rate = useSyncExternalStore(subscribeToVoicePlayback, getPlaybackRate);
  const latest = useUpload(item.upload && file);
  const upload = item.upload && (latest ?? item.upload);
  const [isWanted, setWanted] = useState(false); // to sound as soon as it is here
  const loadLatest = useRef(load);
  loadLatest.current = load;

  const play = (source: string) => {
    // What was heard as it came is kept, for the next time and for offline.
    const onEnded = () => source !== url && loadLatest.current();
    const hold = () =>
      activeEngine
        .get()
        ?.objectUrls.get(body)
        .subscribe(() => {});
    void playVoice({ file, ms: wholeMs, retainSource: hold, onEnded }, source);
  };
  const toggle = () => {
    if (voice.state === "playing" || (voice.state === "loading" && !isWanted)) pauseVoice();
    else if (isWanted) setWanted(false);
    else if (url) play(url);
    else if (body.size > downloadedMaxBytes && !isUnreachable) play(readPath(conversation, file));
    else setWanted(request());
  };

  const tellFailure = () => showToast({ tone: "danger", title: t("common.error"), message: t("messages.voiceFailed") });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each outcome once
  useEffect(() => {
    if (!isWanted || (state !== "failed" && !url)) return;
    setWanted(false);
    if (url) play(url);
    else tellFailure();
  }, [isWanted, url, state]);
  useEffect(() => inCall.subscribe(() => inCall.get() && setWanted(false)), []);
  const hasFailed = voice.state === "failed";
  // biome-ignore lint/correctness/useExhaustiveDependencies: told when it happens
  useEffect(() => {
    if (hasFailed) tellFailure();
  }, [hasFailed]);

  const seek = (ms: number) => seekVoice(file, Math.max(0, Math.min(wholeMs, ms)));
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
    seek(voice.ms + step);
  };

  const isBusy = isWanted || voice.state === "loading";
  const isPlaying = voice.state === "playing";
  const isBegun = voice.ms > 0 || isPlaying;
  const whole = formatDuration(wholeMs, true);
  const heard = formatDuration(voice.ms, true);
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
          max={wholeMs}
          step={100}
          value={voice.ms}
          aria-label={t("messages.seekVoice")}
          aria-valuetext={t("messages.heardOf", { heard, whole })}
          className="peer absolute inset-0 z-1 m-0 size-full cursor-pointer touch-pan-y opacity-0"
          onChange={(event) => seek(event.target.valueAsNumber)}
          onKeyDown={onKeyDown}
        />
        <div className="absolute inset-x-0 top-0 h-7 rounded peer-focus-visible:outline-3 peer-focus-visible:outline-accent peer-focus-visible:outline-solid">
          <Waveform waveform={body.waveform} share={voice.ms / wholeMs} />
        </div>
        <span className="absolute inset-x-0 bottom-0 truncate text-xs leading-[18px] text-muted tabular-nums">
          {upload ? <UploadProgressText upload={upload} /> : isBegun ? `${heard} / ${whole}` : whole}
        </span>
      </div>
      {upload && item.cid ? (
        <>
          <span className="text-accent">
            <UploadProgressRing upload={upload} cid={item.cid} />
          </span>
          <CancelUploadButton cid={item.cid} />
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
