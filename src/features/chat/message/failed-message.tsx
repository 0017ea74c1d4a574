import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { discardMessage, retryMessage } from "#sync/actions.ts";
import { type ChatParticipation, describeSendFailure, isClosedForSending } from "./failed-reason.ts";

const actionLook = "inline-flex min-h-12 items-center gap-1.5 rounded-card px-3 text-sm font-semibold hover:bg-raised";

/** Reason and actions of a message that could not be sent. */
export function FailedMessageActions({
  cid,
  error,
  participation,
}: {
  cid: Uuid;
  error: ErrorCode | undefined;
  participation: ChatParticipation;
}) {
  const { t } = useTranslation();
  const runWithErrorToast = (work: Promise<void>) =>
    work.catch(() => showToast({ tone: "danger", title: t("common.error"), message: t("errors.internal") }));
  return (
    <div className="flex max-w-[min(85%,34rem)] flex-wrap items-center justify-end gap-x-1">
      <p className="min-w-0 px-1 pt-1 text-end text-sm text-danger">
        {t("chat.notSent", { reason: describeSendFailure(error, participation, t) })}
      </p>
      <span className="flex">
        {!isClosedForSending(participation) && (
          <button
            type="button"
            className={`${actionLook} text-accent`}
            onClick={() => runWithErrorToast(retryMessage(cid))}
          >
            <span className="i-ph-arrow-clockwise-bold text-base" aria-hidden="true" />
            {t("chat.retry")}
          </button>
        )}
        <button
          type="button"
          className={`${actionLook} text-danger`}
          onClick={() => runWithErrorToast(discardMessage(cid))}
        >
          <span className="i-ph-trash text-base" aria-hidden="true" />
          {t("chat.discard")}
        </button>
      </span>
    </div>
  );
}
