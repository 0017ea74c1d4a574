import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import type { AttachedBody, Body } from "#contract/messages/body.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { type FileView, useFile } from "#sync/hooks/use-files.ts";

/** Props of an attachment in a bubble, by message type. */
export type AttachmentProps<Kind extends Body["type"]> = {
  conversation: ConversationId;
  item: ChatItem;
  body: Extract<Body, { type: Kind }>;
  /** Type, sender and time of the message for screen readers. */
  description: string;
  /** The user tapped an image. */
  onOpen: () => void;
  /** Asks whether to delete the message. */
  onDelete: () => void;
};

export type Attachment = FileView & {
  /** The file is not on this device and there is no network. */
  isUnreachable: boolean;
  /** Downloads the file at the request of the user. Offline it shows a toast and returns false. */
  request: () => boolean;
};

/** Local state of a message's file, with its download. */
export const useAttachment = (conversation: ConversationId, body: AttachedBody): Attachment => {
  const { t } = useTranslation();
  const file = useFile(conversation, body);
  const isOffline = useIsOffline();
  const { url, state, load } = file;
  // Until the store was read, the file may be on this device.
  const isAbsent = isOffline && state !== "loading";
  const request = useCallback(() => {
    if (isAbsent) showToast({ tone: "danger", title: t("common.error"), message: t("errors.offline") });
    else load();
    return !isAbsent;
  }, [isAbsent, load, t]);
  return { ...file, isUnreachable: isOffline && url === undefined, request };
};

/** Text key of a failed download. */
export const toFetchErrorKey = ({ error }: FileView) =>
  error === "file_not_found" || error === "offline" ? (`errors.${error}` as const) : "messages.fileLoadFailed";
