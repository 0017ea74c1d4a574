import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { mediaErrorTexts } from "#components/messages/media-error-texts.ts";
import { formatBytes } from "#i18n/format-bytes.ts";
import { useLanguage } from "#i18n/setup.ts";
import type { MediaPreparation } from "./use-media-preparation.ts";

/** Icon of a file without a preview, by its media type. */
const toDraftFileIcon = (file: File, preparation: MediaPreparation): string => {
  if (preparation.state === "refused") return "i-ph-warning-circle text-danger!";
  const type = preparation.state === "ready" ? preparation.compressed.body.mime : file.type;
  if (type.startsWith("image/")) return "i-ph-image";
  if (type.startsWith("audio/")) return "i-ph-file-audio";
  if (type.startsWith("video/")) return "i-ph-file-video";
  return type === "application/pdf" ? "i-ph-file-pdf" : "i-ph-file";
};

/** Large preview of the selected file, or its icon, name and size. */
export function AttachmentPreview({
  file,
  preparation,
  onRemove,
}: {
  file: File;
  preparation: MediaPreparation;
  onRemove: () => void;
}) {
  const { t } = useTranslation();
  const size = formatBytes(file.size, useLanguage());
  const url = useObjectUrl(preparation.state === "ready" ? preparation.preview : undefined);
  const isWaiting =
    preparation.state === "preparing" || (preparation.state === "ready" && preparation.preview !== undefined);
  return (
    <div className="relative grid min-h-0 flex-1 place-items-center overflow-hidden bg-raised p-3">
      {url ? (
        <img src={url} alt={file.name} className="max-h-full min-h-0 max-w-full rounded-card object-contain" />
      ) : (
        <div className="grid max-w-full justify-items-center gap-2 px-4 text-center">
          {isWaiting ? (
            <Spinner label={t("chat.attach.preparing")} className="text-5xl text-accent" />
          ) : (
            <span className={`text-6xl text-accent ${toDraftFileIcon(file, preparation)}`} aria-hidden="true" />
          )}
          <bdi className="line-clamp-3 font-semibold [overflow-wrap:anywhere]">{file.name}</bdi>
          {preparation.state === "refused" ? (
            <p role="alert" className="text-danger">
              {t(mediaErrorTexts[preparation.reason])}
            </p>
          ) : (
            <p className="text-sm text-muted">{size}</p>
          )}
        </div>
      )}
      <IconButton
        icon="i-ph-trash"
        label={t("chat.attach.remove", { name: file.name })}
        className="absolute top-3 right-3 border border-line bg-surface shadow-sm"
        onClick={onRemove}
      />
    </div>
  );
}

type AttachmentThumbnailProps = {
  file: File;
  preparation: MediaPreparation;
  isSelected: boolean;
  onSelect: () => void;
};

/** Thumbnail of one of several files; a tap selects it for the preview. */
export function AttachmentThumbnail({ file, preparation, isSelected, onSelect }: AttachmentThumbnailProps) {
  const { t } = useTranslation();
  const url = useObjectUrl(preparation.state === "ready" ? preparation.preview : undefined);
  return (
    <button
      type="button"
      aria-label={t("chat.attach.show", { name: file.name })}
      aria-current={isSelected}
      className={`grid size-14 shrink-0 place-items-center overflow-hidden rounded-card bg-raised text-2xl text-muted ${
        isSelected ? "shadow-[inset_0_0_0_3px_var(--accent)]" : ""
      }`}
      onClick={onSelect}
    >
      {url ? (
        <img src={url} alt="" className={`size-full object-cover ${isSelected ? "rounded-card p-[3px]" : ""}`} />
      ) : preparation.state === "preparing" ? (
        <Spinner className="text-xl" />
      ) : (
        <span className={toDraftFileIcon(file, preparation)} aria-hidden="true" />
      )}
    </button>
  );
}
