import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { formatBytes } from "#i18n/format.ts";
import { type TextKey, type Translate, useLanguage } from "#i18n/setup.ts";
import type { UploadView } from "#sync/hooks/use-files.ts";
import { discardMessage, pauseUpload, resumeUpload, retryMessage } from "#sync/message-actions.ts";

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

/** Ring of the upload progress, around a button that pauses, resumes or retries the upload. */
export function UploadProgressRing({ upload, cid }: { upload: UploadView; cid: Uuid }) {
  const { t } = useTranslation();
  const { icon, label, run } = uploadActions[upload.state];
  const share = upload.size > 0 ? Math.min(1, upload.sent / upload.size) : 0;
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

/** Button that discards a message before it is sent. */
export function CancelUploadButton({ cid }: { cid: Uuid }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      aria-label={t("messages.cancelUpload")}
      title={t("messages.cancelUpload")}
      className="grid size-12 shrink-0 place-items-center rounded-full text-[20px]"
      onClick={(event) => {
        event.stopPropagation();
        runUploadAction(discardMessage(cid), t);
      }}
    >
      <span className="i-ph-x-bold" aria-hidden="true" />
    </button>
  );
}

/** Sent and total bytes, in the units of mobile data plans. */
export function UploadProgressText({ upload }: { upload: UploadView }) {
  const { t } = useTranslation();
  const language = useLanguage();
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
      {upload.state === "paused" ? t("messages.uploadPaused") : t("messages.sentOf", { sent, size })}
    </span>
  );
}
