import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { Modal } from "#components/overlays/modal.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { forwardMessage } from "#sync/actions/message-actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useRecipients } from "#sync/hooks/use-recipients.ts";
import { asSyncError, type FailureCode } from "#sync/platform/sync-error.ts";

type ForwardDialogProps = {
  conversation: ConversationId;
  me: Uuid;
  item: ChatItem;
  onForwarded: () => void;
  onClose: () => void;
};

const toForwardErrorKey = (code: FailureCode) => {
  if (code === "message_not_found") return "messages.forwardUnsent";
  return code === "original_gone" || code === "offline" ? (`errors.${code}` as const) : "messages.forwardFailed";
};

/** Forwards a message to contacts and groups. The message is queued on this device and needs no network. */
export default function ForwardDialog({ conversation, me, item, onForwarded, onClose }: ForwardDialogProps) {
  const { t } = useTranslation();
  const { picker, targets } = useRecipients(me);
  const [isBusy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string>();
  const count = targets.length;

  const forward = async () => {
    setBusy(true);
    setErrorText(undefined);
    try {
      await forwardMessage(conversation, item, targets);
      onForwarded();
      onClose();
      showToast({ message: t("messages.forwarded", { count }) });
    } catch (error) {
      setBusy(false);
      setErrorText(t(toForwardErrorKey(asSyncError(error).code)));
    }
  };

  return (
    <Modal
      labelledBy="forward-title"
      className="rise m-0 h-dvh max-h-none w-full max-w-none bg-surface p-0 text-text sm:m-auto sm:h-[min(40rem,calc(100dvh-2rem))] sm:w-[26rem] sm:rounded-bubble sm:border sm:border-line sm:shadow-xl"
      onDismiss={() => !isBusy && onClose()}
    >
      <div className="flex h-full flex-col pt-safe">
        <div className="flex shrink-0 items-center gap-1 py-2 pr-2 pl-4">
          <h2 id="forward-title" className="min-w-0 flex-1 text-xl font-bold break-words">
            {t("messages.forwardTitle")}
          </h2>
          <IconButton icon="i-ph-x" label={t("common.close")} data-autofocus="" onClick={onClose} />
        </div>
        <p className="mx-4 mb-3 shrink-0 truncate rounded-card bg-raised px-3 py-2 text-sm text-muted">
          <MessagePreview body={item.body} />
        </p>
        <ContactPicker label={t("messages.forwardTitle")} {...picker} />
        <div className="shrink-0 border-t border-line p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
          {errorText !== undefined && (
            <p role="alert" className="pb-2 text-sm text-danger">
              {errorText}
            </p>
          )}
          <Button className="w-full" disabled={count === 0} busy={isBusy} onClick={() => void forward()}>
            {t("messages.forwardTo", { count })}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
