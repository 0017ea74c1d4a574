import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import type { ConversationId } from "#contract/ids.ts";
import { ComposerNotice } from "#features/chat/composer/composer-notice.tsx";
import { balanceBidi } from "#lib/text/bidi.ts";
import { saveDraft } from "#sync/actions/drafts.ts";
import type { UnsentContent } from "#sync/hooks/use-unsent-content.ts";
import { UnsentFileList } from "./unsent-files.tsx";
import { UnsentRecording } from "./unsent-voice.tsx";

type UnsentContentPanelProps = {
  conversation: ConversationId;
  draft: string;
  unsent: UnsentContent | undefined;
  /** Why nothing can be sent here, unless the screen says it. */
  reason?: string;
};

/**
 * Replaces the composer in a chat that can no longer be written to. The unsent draft, files and recordings can be
 * copied, saved or deleted.
 */
export default function UnsentContentPanel({ conversation, draft, unsent, reason }: UnsentContentPanelProps) {
  const { t } = useTranslation();
  return (
    <>
      <div className="max-h-[60dvh] shrink-0 overflow-y-auto bg-surface">
        {draft !== "" && (
          <section className="border-t border-line px-4 pt-3 pb-2">
            <h2 className="text-sm font-semibold text-muted">{t("groups.chat.leftDraft")}</h2>
            <p className="my-1 max-h-40 overflow-y-auto whitespace-pre-wrap [unicode-bidi:plaintext] [overflow-wrap:anywhere]">
              {balanceBidi(draft)}
            </p>
            <div className="flex flex-wrap justify-end gap-2">
              <Button variant="quiet" className="!px-3" onClick={() => void copyText(draft)}>
                {t("messages.copy")}
              </Button>
              <Button variant="quiet" className="!px-3 !text-danger" onClick={() => saveDraft(conversation, "")}>
                {t("common.delete")}
              </Button>
            </div>
          </section>
        )}
        {unsent && unsent.files.length > 0 && <UnsentFileList conversation={conversation} files={unsent.files} />}
        {unsent?.recordings.map((recorded) => (
          <UnsentRecording key={recorded.startedAt} conversation={conversation} recorded={recorded} />
        ))}
      </div>
      {reason !== undefined && <ComposerNotice text={reason} />}
    </>
  );
}
