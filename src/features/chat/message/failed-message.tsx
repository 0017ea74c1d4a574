import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { retryMessage } from "#sync/actions/message-actions.ts";
import { type ChatParticipation, isClosedForSending } from "./chat-participation.ts";

/**
 * Reason why a message was not sent. A message rejected after a removal from the group stays rejected when the user is
 * a member again. A deleted peer account takes precedence over any earlier error.
 */
export const describeSendFailure = (
  error: ErrorCode | undefined,
  participation: ChatParticipation,
  t: Translate,
): string => {
  if (participation === "peerDeleted") return t("errors.account_deleted");
  if (error === "conversation_not_found" && participation !== "private") {
    return t(participation === "left" ? "groups.chat.notMember" : "groups.chat.wasNotMember");
  }
  return t(`errors.${error ?? "internal"}`);
};

export const failedActionClasses =
  "inline-flex min-h-12 items-center gap-1.5 rounded-card px-3 text-sm font-semibold hover:bg-raised";

/** Reason and actions of a message that could not be sent. */
export default function FailedMessageActions({
  cid,
  error,
  participation,
  onDelete,
}: {
  cid: Uuid;
  error: ErrorCode | undefined;
  participation: ChatParticipation;
  /** Asks whether to delete the message. */
  onDelete: () => void;
}) {
  const { t } = useTranslation();
  const retry = () =>
    retryMessage(cid).catch(() =>
      showToast({ tone: "danger", title: t("common.error"), message: t("errors.internal") }),
    );
  return (
    <div className="flex max-w-[min(85%,34rem)] flex-wrap items-center justify-end gap-x-1">
      <p className="min-w-0 px-1 pt-1 text-end text-sm text-danger">
        {t("chat.notSent", { reason: describeSendFailure(error, participation, t) })}
      </p>
      <span className="flex">
        {!isClosedForSending(participation) && (
          <button type="button" className={`${failedActionClasses} text-accent`} onClick={() => void retry()}>
            <span className="i-ph-arrow-clockwise-bold text-base" aria-hidden="true" />
            {t("chat.retry")}
          </button>
        )}
        <button type="button" className={`${failedActionClasses} text-danger`} onClick={onDelete}>
          <span className="i-ph-trash text-base" aria-hidden="true" />
          {t("chat.discard")}
        </button>
      </span>
    </div>
  );
}
