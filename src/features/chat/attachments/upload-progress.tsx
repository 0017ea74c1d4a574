import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { formatBytes } from "#i18n/format-bytes.ts";
import { type TextKey, type Translate, useLanguage } from "#i18n/setup.ts";
import { pauseUpload, resumeUpload, retryMessage } from "#sync/actions/message-actions.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import type { UploadView } from "#sync/hooks/use-files.ts";

const ringRadius = 20;
const ringLength = 2 * Math.PI * ringRadius;

const runUploadAction = (work: Promise<void>, t: Translate): void => {
  work.catch(() => showToast({ tone: "danger", title: t("common.error"), message: t("errors.internal") }));
};

const uploadActions = {
  waiting: { icon: "i-ph-pause-fill", label: "messages.pauseUpload", run: pauseUpload },
  uploading: { icon: "i-ph-pause-fill", label: "messages.pauseUpload", run: pauseUpload },
  paused: { icon: "i-ph-arrow-up-bold", label: "messages.resumeUpload", run: resumeUpload },
  failed: { icon: "i-ph-arrow-clockwise-bold", label: "messages.retryUpload", run: retryMessage },
} as const satisfies Record<UploadView["state"], { icon: string; label: TextKey; run: (cid: Uuid) => Promise<void> }>;

/** Whether an upload goes on as soon as there is a network. */
const useIsWaitingForNetwork = ({ state }: UploadView): boolean =>
  useIsOffline() && (state === "waiting" || state === "uploading");

/**
 * Ring of the upload progress, around a button that pauses, resumes or retries the upload; a clock while it waits for
 * the network.
 */
export function UploadProgressRing({ upload, cid }: { upload: UploadView; cid: Uuid }) {
  const { t } = useTranslation();
  const isWaitingForNetwork = useIsWaitingForNetwork(upload);
  const { icon, label, run } = uploadActions[upload.state];
  const share = upload.size > 0 ? Math.min(1, upload.sent / upload.size) : 0;
  if (isWaitingForNetwork)
    return (
      <span className="grid size-12 shrink-0 place-items-center text-[24px]" aria-hidden="true">
        <span className="i-ph-clock" />
      </span>
    );
  return (
    <button
      type="button"
      aria-label={t(label)}
      title={t(label)}
      className="relative grid size-12 shrink-0 place-items-center rounded-full text-[20px]"
      onClick={(event) => {
        event.stopPropagation();
        runUploadAction(run(cid), t);
      }}
    >
      <svg
        viewBox="0 0 48 48"
        className={`absolute inset-0 rotate-270 ${upload.state === "waiting" ? "animate-pulse" : ""}`}
        fill="none"
        strokeWidth="3"
        stroke="currentColor"
        aria-hidden="true"
      >
        <circle cx="24" cy="24" r={ringRadius} opacity="0.25" />
        <circle
          cx="24"
          cy="24"
          r={ringRadius}
          strokeLinecap="round"
          strokeDasharray={`${Math.max(share, 0.02) * ringLength} ${ringLength}`}
          className="transition-[stroke-dasharray] duration-300"
        />
      </svg>
      <span className={icon} aria-hidden="true" />
    </button>
  );
}

/** Button that asks whether to delete a message before it is sent. */
export function CancelUploadButton({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      aria-label={t("messages.cancelUpload")}
      title={t("messages.cancelUpload")}
      className="grid size-12 shrink-0 place-items-center rounded-full text-[20px]"
      onClick={(event) => {
        event.stopPropagation();
        onCancel();
      }}
    >
      <span className="i-ph-x-bold" aria-hidden="true" />
    </button>
  );
}

/** Sent and total bytes, in the units of mobile data plans, or why nothing is being sent. */
export function UploadProgressText({ upload }: { upload: UploadView }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const isWaitingForNetwork = useIsWaitingForNetwork(upload);
  const sent = formatBytes(upload.sent, language);
  const size = formatBytes(upload.size, language);
  return (
    <span
      role="progressbar"
      aria-label={t("messages.uploading")}
      aria-valuemin={0}
      aria-valuemax={upload.size}
      aria-valuenow={upload.sent}
      aria-valuetext={t("messages.sentOf", { sent, size })}
      className="tabular-nums"
    >
      {isWaitingForNetwork
        ? t("messages.uploadWaiting")
        : upload.state === "paused"
          ? t("messages.uploadPaused")
          : t("messages.sentOf", { sent, size })}
    </span>
  );
}
