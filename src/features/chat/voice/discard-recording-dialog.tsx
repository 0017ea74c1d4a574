import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { formatDuration } from "#i18n/format.ts";
import type { VoiceRecording } from "./voice-recording.ts";

/** Asks whether a long recording that was given up is to go. */
export function DiscardRecordingDialog({ session }: { session: VoiceRecording }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  if (state.phase !== "kept" || !state.isDiscardRequested) return null;
  return (
    <ConfirmDialog
      open
      title={t("chat.voice.discardTitle")}
      body={t("chat.voice.discardBody", { time: formatDuration(state.ms, true) })}
      confirmLabel={t("common.delete")}
      cancelLabel={t("chat.voice.discardStay")}
      onConfirm={() => void session.discard()}
      onClose={() => session.cancelDiscard()}
    />
  );
}
