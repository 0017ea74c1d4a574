import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import { HighlightedText } from "#features/chat/search/search-highlight.tsx";
import { formatBytes } from "#i18n/format-bytes.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useUpload } from "#sync/hooks/use-files.ts";
import { getFileExtension, saveToDevice } from "./save-file.ts";
import { CancelUploadButton, UploadProgressRing, UploadProgressText } from "./upload-progress.tsx";
import { type AttachmentProps, toFetchErrorKey, useAttachment } from "./use-attachment.ts";

const iconsByExtension: [ends: RegExp, icon: string][] = [
  [/^\.pdf$/, "i-ph-file-pdf"],
  [/^\.(docx?|odt|rtf)$/, "i-ph-file-doc"],
  [/^\.(xlsx?|ods|csv)$/, "i-ph-file-xls"],
  [/^\.(pptx?|odp)$/, "i-ph-file-ppt"],
  [/^\.(zip|rar|7z|gz|tar)$/, "i-ph-file-zip"],
  [/^\.(mp3|ogg|opus|wav|m4a|aac|flac|amr)$/, "i-ph-file-audio"],
  [/^\.(mp4|webm|mov|3gp|mkv|avi)$/, "i-ph-file-video"],
  [/^\.(jpe?g|png|gif|webp|heic|bmp|svg)$/, "i-ph-file-image"],
  [/^\.(txt|md|log)$/, "i-ph-file-text"],
];

const toExtensionIcon = (extension: string): string =>
  iconsByExtension.find(([ends]) => ends.test(extension.toLowerCase()))?.[1] ?? "i-ph-file";

/** File card of a bubble. A tap downloads the file and saves it through the browser. */
export default function FileAttachment({ conversation, item, body, onDelete }: AttachmentProps<"file">) {
  const { t } = useTranslation();
  const language = useLanguage();
  const attachment = useAttachment(conversation, body);
  const { url, state, request } = attachment;
  const errorKey = state === "failed" ? toFetchErrorKey(attachment) : undefined;
  const liveUpload = useUpload(item.upload && body.file);
  const upload = item.upload && (liveUpload ?? item.upload);
  const extension = getFileExtension(body.name);
  // Shown because a long name hides its extension.
  const typeLabel = extension === "" ? "" : `${extension.slice(1).toUpperCase()} · `;
  const isWanted = useRef(false);
  useEffect(() => {
    if (!isWanted.current) return;
    if (state === "here" && url) saveToDevice(url, body.name);
    if (errorKey) showToast({ tone: "danger", title: t("common.error"), message: t(errorKey) });
    if (state !== "loading") isWanted.current = false;
  }, [state, errorKey, url, body.name, t]);

  const classes = "flex min-h-12 min-w-0 flex-1 items-center gap-3 rounded-card text-start";
  const content = (
    <>
      {!upload && (
        <span className="grid size-12 shrink-0 place-items-center rounded-card bg-accent-soft text-[24px] text-accent">
          <span className={state === "loading" ? "spinner" : toExtensionIcon(extension)} aria-hidden="true" />
        </span>
      )}
      <span className="min-w-0 flex-1">
        <span className="sr-only">{t(url ? "messages.saveFile" : "messages.fetchFile", { name: body.name })}</span>
        <bdi aria-hidden="true" className="line-clamp-2 font-semibold leading-5 [overflow-wrap:anywhere]">
          <HighlightedText text={body.name} />
        </bdi>
        <span className={`block truncate text-xs leading-[20px] text-muted ${upload ? "pr-4" : "pr-[4rem]"}`}>
          {upload ? <UploadProgressText upload={upload} /> : `${typeLabel}${formatBytes(body.size, language)}`}
          {!upload && errorKey && (
            <span className="text-danger">
              {" "}
              · {t(errorKey === "errors.file_not_found" ? "messages.gone" : "messages.loadAgain")}
            </span>
          )}
        </span>
      </span>
    </>
  );
  return (
    <div className="flex items-center">
      {upload && item.cid && (
        <span className="mr-3 rounded-full bg-accent-soft text-accent">
          <UploadProgressRing upload={upload} cid={item.cid} />
        </span>
      )}
      {url ? (
        <a href={url} download={body.name} className={classes}>
          {content}
        </a>
      ) : (
        <button
          type="button"
          className={classes}
          aria-busy={state === "loading" || undefined}
          onClick={() => {
            isWanted.current = request();
          }}
        >
          {content}
        </button>
      )}
      {upload && item.cid && <CancelUploadButton onCancel={onDelete} />}
    </div>
  );
}
