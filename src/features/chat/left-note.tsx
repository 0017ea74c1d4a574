import type { ConversationId } from "../../../contract/ids";
import { Button } from "../../components/button";
import { copyText } from "../../components/copy-text";
import { useT } from "../../i18n/setup";
import { balance } from "../../lib/isolate";
import { saveDraft } from "../../sync/actions";
import { BottomNote } from "./bottom-note";

/** In the composer's place for somebody who is no member any more: what was being written there can be copied and thrown away. */
export default function LeftNote({ conversation, draft }: { conversation: ConversationId; draft: string }) {
  const t = useT();
  return (
    <>
      {draft !== "" && (
        <section className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-2">
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
      <BottomNote text={t("groups.chat.leftNote")} />
    </>
  );
}
