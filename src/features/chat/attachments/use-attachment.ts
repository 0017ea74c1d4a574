import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { AttachedBody } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { type FileView, useFile } from "#sync/hooks/use-live-query.ts";

export type Attachment = FileView & {
  /** What is not here cannot be had now. */
  isUnreachable: boolean;
  /** The person asked for it: fetches it, or says at once that there is no network to fetch it from. False then. */
  request: () => boolean;
};

/** A message's file as this phone has it. */
export const useAttachment = (conversation: ConversationId, body: AttachedBody): Attachment => {
  const { t } = useTranslation();
  const file = useFile(conversation, body);
  const isOffline = useIsOffline();
  const { url, load } = file;
  const ask = useCallback(() => {
    if (isOffline) showToast({ tone: "danger", title: t("common.error"), message: t("errors.offline") });
    else load();
    return !isOffline;
  }, [isOffline, load, t]);
  return { ...file, isUnreachable: isOffline && url === undefined, request: ask };
};

/** Why it could not be fetched, as a text to show. */
export const toFetchErrorKey = ({ error }: FileView) =>
  error === "file_not_found" || error === "offline" ? (`errors.${error}` as const) : "messages.fileLoadFailed";
