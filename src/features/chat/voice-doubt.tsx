import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "../../components/dialog";
import { formatLength } from "../../i18n/format";
import type { VoiceSession } from "./voice-session";

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
