import { useSyncExternalStore } from "react";
import { ConfirmDialog } from "../../components/dialog";
import { formatLength } from "../../i18n/format";
import { useT } from "../../i18n/setup";
import type { VoiceSession } from "./voice-session";

/** Asks whether a long recording that was given up is to go. */
export function VoiceDoubt({ session }: { session: VoiceSession }) {
  const t = useT();
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
