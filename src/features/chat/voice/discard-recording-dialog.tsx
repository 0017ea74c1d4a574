import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { formatDuration } from "#i18n/format.ts";
import type { VoiceRecording } from "./voice-recording.ts";

/** Confirmation before a long recording is discarded. */
export function DiscardRecordingDialog({ recording }: { recording: VoiceRecording }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(recording.state.subscribe, recording.state.get);
  if (state.phase !== "saved" || !state.isDiscardRequested) return null;
  return (
    <ConfirmDialog
      open
      title={t("chat.voice.discardTitle")}
      body={t("chat.voice.discardBody", { time: formatDuration(state.ms, true) })}
      confirmLabel={t("common.delete")}
      cancelLabel={t("chat.voice.discardStay")}
      onConfirm={() => void recording.discard()}
      onClose={() => recording.cancelDiscard()}
    />
  );
}
