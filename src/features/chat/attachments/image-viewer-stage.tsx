import { type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { PictureLoadError, ZoomablePicture } from "#components/overlays/picture-overlay.tsx";
import { usePanZoom } from "#components/overlays/use-pan-zoom.ts";
import type { Body } from "#contract/conversations.ts";
import { formatBytes } from "#i18n/format.ts";
import { useLanguage } from "#i18n/setup.ts";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import type { Attachment } from "./use-attachment.ts";

type ImageViewerStageProps = {
  body: Extract<Body, { type: "image" }>;
  alt: string;
  file: Attachment;
  /** Receives the key handler of this image. */
  keyHandler: RefObject<((key: string) => boolean) | undefined>;
  onStep: (by: 1 | -1) => void;
  onClose: () => void;
};

/** Zoomable image; its thumbhash is shown until it is loaded. */
export function ImageViewerStage({ body, alt, file, keyHandler, onStep, onClose }: ImageViewerStageProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { url, state, load, isUnreachable } = file;
  const [thumb] = useState(() => toThumbUrl(body.thumb));
  const frame = useRef<HTMLDivElement>(null);
  const zoom = usePanZoom(body, frame, { onTurn: onStep, onClose });
  keyHandler.current = zoom.press;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per image
  useEffect(() => {
    if (state === "absent" && !isUnreachable) load();
  }, [state === "absent" && !isUnreachable]);
  const loadingNotice = (
    <p role="status" className="flex items-center gap-2 rounded-full bg-black/60 px-4 py-2 text-sm">
      <span className="spinner text-xl" aria-hidden="true" />
      {formatBytes(body.size, language)}
      <span className="sr-only">{t("common.loading")}</span>
    </p>
  );
  const failureNotice = <PictureLoadError text={t("messages.photoFailed")} onRetry={load} />;
  return (
    <ZoomablePicture
      frameRef={frame}
      zoom={zoom}
      overlay={url ? null : state === "failed" || isUnreachable ? failureNotice : loadingNotice}
    >
      <img
        src={url ?? thumb}
        alt={alt}
        draggable={false}
        data-scale={zoom.pose.scale}
        className={`absolute inset-0 m-auto max-h-full max-w-full ${url ? "" : "size-full object-contain blur-sm"}`}
      />
    </ZoomablePicture>
  );
}
