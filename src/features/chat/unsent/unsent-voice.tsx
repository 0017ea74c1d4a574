import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { saveToDevice } from "#features/chat/attachments/save-file.ts";
import { DiscardRecordingDialog } from "#features/chat/voice/discard-recording-dialog.tsx";
import { RecordingPreview } from "#features/chat/voice/recording-preview.tsx";
import { VoiceRecording } from "#features/chat/voice/voice-recording.ts";
import type { UnsentContent } from "#sync/hooks/use-unsent-content.ts";

type UnsentRecordingProps = { conversation: ConversationId; recorded: UnsentContent["recordings"][number] };

const objectUrlLifetimeMs = 60_000; // time for the browser to ask where to save the file

const downloadRecording = async (recording: VoiceRecording): Promise<void> => {
  const file = await recording.toFile();
  const url = URL.createObjectURL(file);
  saveToDevice(url, file.name);
  setTimeout(() => URL.revokeObjectURL(url), objectUrlLifetimeMs);
};

/** Unsent voice recording in a group that the user has left. */
export function UnsentRecording({ conversation, recorded: { startedAt, ms } }: UnsentRecordingProps) {
  const { t } = useTranslation();
  const [recording, setRecording] = useState<VoiceRecording>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when more of it was saved
  useEffect(() => {
    let isCurrent = true;
    VoiceRecording.findSaved(conversation, startedAt).then(
      (saved) => isCurrent && setRecording(saved),
      (error: unknown) => console.warn("the saved recording cannot be read", error),
    );
    return () => {
      isCurrent = false;
    };
  }, [conversation, startedAt, ms]);
  return (
    <section aria-label={t("chat.voice.kept")} className="flex items-center gap-3 border-t border-line pr-1 pl-4">
      {recording ? (
        <>
          <RecordingPreview recording={recording} />
          <div className="flex">
            <IconButton
              icon="i-ph-download-simple"
              label={t("messages.save")}
              onClick={() => void downloadRecording(recording)}
            />
            <IconButton
              icon="i-ph-trash"
              label={t("chat.voice.discard")}
              className="text-danger"
              onClick={() => void recording.requestDiscard()}
            />
          </div>
          <DiscardRecordingDialog recording={recording} />
        </>
      ) : (
        <span className="grid min-h-12 place-items-center">
          <Spinner label={t("common.loading")} className="text-xl text-accent" />
        </span>
      )}
    </section>
  );
}
