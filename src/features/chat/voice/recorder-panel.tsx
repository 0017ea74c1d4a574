import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { formatDuration } from "#i18n/format.ts";
import { DiscardRecordingDialog } from "./discard-recording-dialog.tsx";
import { RecordingPreview } from "./recording-preview.tsx";
import type { VoiceRecording } from "./voice-recording.ts";

const barsShown = 64; // six seconds at most; fewer where the panel is narrow
const barMinPercent = 8;

/** Level meter of the last seconds, newest at the end. */
function LiveLevelBars({ level, ms }: { level: number; ms: number }) {
  const [{ levels, untilMs }, setMeter] = useState<{ levels: readonly number[]; untilMs: number }>({
    levels: [],
    untilMs: ms,
  });
  if (untilMs !== ms) setMeter({ levels: [...levels, level].slice(-barsShown), untilMs: ms });
  const shown = [...Array<number>(barsShown - levels.length).fill(0), ...levels];
  return (
    <span aria-hidden="true" className="flex h-8 min-w-0 flex-1 items-center justify-end gap-[3px] overflow-hidden">
      {shown.map((level, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: bars have no identity besides their position
          key={index}
          className="w-[3px] shrink-0 rounded-full bg-accent"
          style={{ height: `${barMinPercent + level * (100 - barMinPercent)}%` }}
        />
      ))}
    </span>
  );
}

function RecordingStatus({ recording, hint }: { recording: VoiceRecording; hint: ReactNode }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(recording.state.subscribe, recording.state.get);
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 300);
    return () => clearTimeout(timer);
  }, []);
  if (state.phase !== "recording") {
    return <span className="text-muted">{isSlow && state.phase === "opening" ? t("chat.voice.opening") : ""}</span>;
  }
  return (
    <>
      <span className="size-3 animate-pulse shrink-0 rounded-full bg-danger" aria-hidden="true" />
      <span role="timer" className="min-w-12 shrink-0 whitespace-nowrap font-semibold tabular-nums">
        {formatDuration(state.ms, true)}
      </span>
      {hint ?? <LiveLevelBars level={state.level} ms={state.ms} />}
    </>
  );
}

type RecorderPanelProps = { recording: VoiceRecording; isLocked: boolean; isCancelling: boolean };

/**
 * Replaces the text field and the attach buttons while a voice message is recorded or waits to be sent. The record
 * button stays in the composer, because a finger may be holding it.
 */
export function RecorderPanel({ recording, isLocked, isCancelling }: RecorderPanelProps) {
  const { t } = useTranslation();
  const phase = useSyncExternalStore(recording.state.subscribe, () => recording.state.get().phase);
  const isSaved = phase === "saved" || phase === "sending";
  const isHeld = !isLocked && !isSaved;
  const trash = useRef<HTMLButtonElement>(null);
  const hint = isHeld ? (
    <span
      className={`flex min-w-0 flex-1 items-center justify-end gap-1 text-sm leading-tight ${isCancelling ? "text-danger" : "text-muted"}`}
    >
      {!isCancelling && <span className="i-ph-caret-left-bold shrink-0" aria-hidden="true" />}
      {t(isCancelling ? "chat.voice.release" : "chat.voice.slide")}
    </span>
  ) : undefined;
  return (
    <>
      <IconButton
        ref={trash}
        icon={isCancelling ? "i-ph-trash-fill" : "i-ph-trash"}
        label={t("chat.voice.discard")}
        className={`transition-transform ${isCancelling ? "scale-120 bg-danger-soft text-danger" : "text-danger"}`}
        onClick={() => void recording.requestDiscard()}
      />
      <div
        data-recording={isSaved ? undefined : ""}
        className="flex min-h-12 min-w-0 flex-1 items-center gap-2 rounded-[24px] border border-line bg-bg px-3 sm:gap-3 sm:px-4"
      >
        {isSaved ? <RecordingPreview recording={recording} /> : <RecordingStatus recording={recording} hint={hint} />}
      </div>
      {isLocked && phase === "recording" && (
        <IconButton icon="i-ph-stop-fill" label={t("chat.voice.stop")} onClick={() => void recording.stopAndSave()} />
      )}
      {isHeld && (
        <span
          title={t("chat.voice.lock")}
          className="rise pointer-events-none absolute right-2 bottom-[calc(100%+0.5rem)] grid w-12 justify-items-center gap-1 rounded-full border border-line bg-surface py-2.5 text-xl text-muted shadow-lg"
        >
          <span className="i-ph-lock-simple" aria-hidden="true" />
          <span className="i-ph-caret-up-bold text-base" aria-hidden="true" />
        </span>
      )}
      <DiscardRecordingDialog recording={recording} />
      <span role="status" className="sr-only">
        {phase === "recording" ? t("chat.voice.recording") : ""}
        {phase === "saved" ? t("chat.voice.kept") : ""}
      </span>
    </>
  );
}
