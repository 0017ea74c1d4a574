import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { saveAs } from "#features/chat/attachments/save-file.ts";
import { VoiceDoubt } from "#features/chat/voice/discard-recording-dialog.tsx";
import { VoiceListening } from "#features/chat/voice/recording-preview.tsx";
import { VoiceSession } from "#features/chat/voice/voice-recording.ts";
import type { LeftOver } from "#sync/hooks/use-live-query.ts";

type LeftVoiceProps = { conversation: ConversationId; recorded: NonNullable<LeftOver["recorded"]> };

const addressLastsMs = 60_000; // a browser may ask the person first where to keep it

const save = async (session: VoiceSession): Promise<void> => {
  const file = await session.file();
  const url = URL.createObjectURL(file);
  saveAs(url, file.name);
  setTimeout(() => URL.revokeObjectURL(url), addressLastsMs);
};

/** A voice message that was being recorded in a group that one is no member of any more. */
export function LeftVoice({ conversation, recorded: { startedAt, ms } }: LeftVoiceProps) {
  const { t } = useTranslation();
  const [session, setSession] = useState<VoiceSession>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when more of it is kept
  useEffect(() => {
    let isCurrent = true;
    VoiceSession.find(conversation).then(
      (found) => isCurrent && setSession(found),
      (error: unknown) => console.warn("no kept recording to be read", error),
    );
    return () => {
      isCurrent = false;
    };
  }, [conversation, startedAt, ms]);
  return (
    <section aria-label={t("chat.voice.kept")} className="flex items-center gap-3 border-t border-line pr-1 pl-4">
      {session ? (
        <>
          <VoiceListening session={session} />
          <div className="flex">
            <IconButton icon="i-ph-download-simple" label={t("messages.save")} onClick={() => void save(session)} />
            <IconButton
              icon="i-ph-trash"
              label={t("chat.voice.discard")}
              className="text-danger"
              onClick={() => void session.giveUp()}
            />
          </div>
          <VoiceDoubt session={session} />
        </>
      ) : (
        <span className="grid min-h-12 place-items-center">
          <Spinner label={t("common.loading")} className="text-xl text-accent" />
        </span>
      )}
    </section>
  );
}
