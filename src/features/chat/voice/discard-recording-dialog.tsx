import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { formatLength } from "#i18n/format.ts";
import type { VoiceSession } from "./voice-recording.ts";

/** Asks whether a long recording that was given up is to go. */
export function VoiceDoubt({ session }: { session: VoiceSession }) {
  const { t } = useTranslation();
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  if (state.phase !== "kept" || !state.isGivenUp) return null;
  return (
    <ConfirmDialog
      open
      title={t("chat.voice.discardTitle")}
      body={t("chat.voice.discardBody", { time: formatLength(state.ms, true) })}
      confirmLabel={t("common.delete")}
      cancelLabel={t("chat.voice.discardStay")}
      onConfirm={() => void session.discard()}
      onClose={() => session.takeBack()}
    />
  );
}
