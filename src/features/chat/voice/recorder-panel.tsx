import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { formatDuration } from "#i18n/format.ts";
import { DiscardRecordingDialog } from "./discard-recording-dialog.tsx";
import { RecordingPreview } from "./recording-preview.tsx";
import type { VoiceRecording } from "./voice-recording.ts";

const barsShown = 64; // as many seconds as there is room for, six at most
const barMinPercent = 8;

/** The last few seconds, newest at the end. */
function LiveLevelBars({ level, ms }: { level: number; ms: number }) {
  const levels = useRef<number[]>([]);
  const lastMs = useRef(ms);
  if (lastMs.current !== ms) {
    levels.current = [...levels.current, level].slice(-barsShown);
    lastMs.current = ms;
  }
  const shown = [...Array<number>(barsShown - levels.current.length).fill(0), ...levels.current];
  return (
    <span aria-hidden="true" className="flex h-8 min-w-0 flex-1 items-center justify-end gap-[3px] overflow-hidden">
      {shown.map((level, at) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
          key={at}
          className="w-[3px] shrink-0 rounded-full bg-accent"
          style={{ height: `${barMinPercent + level * (100 - barMinPercent)}%` }}
        />
      ))}
    </span>
  );
}

function RecordingStatus({ session, hint }: { session: VoiceRecording; hint: ReactNode }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  if (state.phase !== "recording") {
    return <span className="text-muted">{isLate && state.phase === "opening" ? t("chat.voice.opening") : ""}</span>;
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
 * Stands in the place of the field and of the buttons while a voice message is recorded or waits to be sent;
 * the round button beside it stays the composer's own, since a finger may be holding it.
 */
export function RecorderPanel({ recording, isLocked, isCancelling }: RecorderPanelProps) {
  const { t } = useTranslation();
  const phase = useSyncExternalStore(recording.state.subscribe, () => recording.state.get().phase);
  const isKept = phase === "kept" || phase === "sending";
  const isHeld = !isLocked && !isKept;
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
        data-recording={isKept ? undefined : ""}
        className="flex min-h-12 min-w-0 flex-1 items-center gap-2 rounded-[24px] border border-line bg-bg px-3 sm:gap-3 sm:px-4"
      >
        {isKept ? <RecordingPreview session={recording} /> : <RecordingStatus session={recording} hint={hint} />}
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
      <DiscardRecordingDialog session={recording} />
      <span role="status" className="sr-only">
        {phase === "recording" ? t("chat.voice.recording") : ""}
        {phase === "kept" ? t("chat.voice.kept") : ""}
      </span>
    </>
  );
}
