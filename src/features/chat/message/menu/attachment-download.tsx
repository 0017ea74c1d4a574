import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { saveToDevice } from "#features/chat/attachments/save-file.ts";
import { toFetchErrorKey, useAttachment } from "#features/chat/attachments/use-attachment.ts";

/** Downloads the file if necessary and saves it through the browser. */
export function AttachmentDownload({
  conversation,
  body,
  onDone,
}: {
  conversation: ConversationId;
  body: AttachedBody;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const attachment = useAttachment(conversation, body);
  const { url, state, request } = attachment;
  const errorKey = state === "failed" ? toFetchErrorKey(attachment) : undefined;
  const hasRequested = useRef(false);
  useEffect(() => {
    if (url) saveToDevice(url, body.name);
    else if (!hasRequested.current) {
      hasRequested.current = true;
      if (request()) return;
    } else if (errorKey) showToast({ tone: "danger", title: t("common.error"), message: t(errorKey) });
    else return;
    onDone();
  }, [url, errorKey, request, body.name, onDone, t]);
  return null;
}
