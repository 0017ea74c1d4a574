import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import type { ConversationId } from "#contract/ids.ts";
import { BottomNote } from "#features/chat/composer/composer-notice.tsx";
import { balance } from "#lib/text/bidi.ts";
import { saveDraft } from "#sync/actions.ts";
import type { LeftOver } from "#sync/hooks/use-live-query.ts";
import { LeftFiles } from "./unsent-files.tsx";
import { LeftVoice } from "./unsent-voice.tsx";

type LeftNoteProps = {
  conversation: ConversationId;
  draft: string;
  leftOver: LeftOver | undefined;
  /** Why nothing can be written. */
  text: string;
};

/**
 * In the composer's place where nobody hears one any more: what was being written, chosen or recorded there
 * can be copied or saved, and thrown away.
 */
export default function LeftNote({ conversation, draft, leftOver, text }: LeftNoteProps) {
  const { t } = useTranslation();
  return (
    <>
      <div className="max-h-[60dvh] shrink-0 overflow-y-auto bg-surface">
        {draft !== "" && (
          <section className="border-t border-line px-4 pt-3 pb-2">
            <h2 className="text-sm font-semibold text-muted">{t("groups.chat.leftDraft")}</h2>
            <p dir="auto" className="my-1 max-h-40 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
              <bdi>{balance(draft)}</bdi>
            </p>
            <div className="flex flex-wrap justify-end gap-2">
              <Button look="quiet" className="!px-3" onClick={() => void copyText(draft)}>
                {t("messages.copy")}
              </Button>
              <Button look="quiet" className="!px-3 !text-danger" onClick={() => saveDraft(conversation, "")}>
                {t("common.delete")}
              </Button>
            </div>
          </section>
        )}
        {leftOver && leftOver.files.length > 0 && <LeftFiles conversation={conversation} files={leftOver.files} />}
        {leftOver?.recorded && <LeftVoice conversation={conversation} recorded={leftOver.recorded} />}
      </div>
      <BottomNote text={text} />
    </>
  );
}
