import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId } from "#contract/ids.ts";
import { failedActionClasses } from "#features/chat/message/failed-message.tsx";
import { discardRefusedEdit, saveEdit } from "#sync/actions/message-actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

type FailedEditProps = { conversation: ConversationId; item: ChatItem; error: ErrorCode };

/** Reason and actions of an edit that the server refused; its text stays in the bubble. */
export default function FailedEdit({ conversation, item, error }: FailedEditProps) {
  const { t } = useTranslation();
  const { body } = item;
  const text = "text" in body ? (body.text ?? "") : "";
  const showFailure = () => showToast({ tone: "danger", title: t("common.error"), message: t("errors.internal") });
  const retry = () => void saveEdit(conversation, item, text).catch(showFailure);
  const discard = async () => {
    try {
      await discardRefusedEdit(conversation, item);
    } catch {
      return showFailure();
    }
    showToast({ message: t("chat.editCancelled"), action: { label: t("masolo.undo"), onSelect: retry } });
  };
  return (
    <div className="flex max-w-[min(85%,34rem)] flex-wrap items-center justify-end gap-x-1">
      <p className="min-w-0 px-1 pt-1 text-end text-sm text-danger">
        {t("messages.editRefused", { reason: t(`errors.${error}`) })}
      </p>
      <span className="flex">
        {error !== "edit_too_late" && (
          <button type="button" className={`${failedActionClasses} text-accent`} onClick={retry}>
            <span className="i-ph-arrow-clockwise-bold text-base" aria-hidden="true" />
            {t("chat.retry")}
          </button>
        )}
        <button type="button" className={`${failedActionClasses} text-danger`} onClick={() => void discard()}>
          <span className="i-ph-x-bold text-base" aria-hidden="true" />
          {t("chat.cancelEdit")}
        </button>
      </span>
    </div>
  );
}
