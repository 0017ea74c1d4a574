import { type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { PictureFailed, Zoomed } from "#components/overlays/picture-overlay.tsx";
import { useZoom } from "#components/overlays/use-pan-zoom.ts";
import type { Body } from "#contract/conversations.ts";
import { formatBytes } from "#i18n/format.ts";
import { useLanguage } from "#i18n/setup.ts";
import { thumbToUrl } from "#lib/media/thumbhash.ts";
import type { Attachment } from "./use-attachment.ts";

type StageProps = {
  body: Extract<Body, { type: "image" }>;
  alt: string;
  file: Attachment;
  /** Is given what a key does to this picture. */
  keys: RefObject<((key: string) => boolean) | undefined>;
  onTurn: (by: 1 | -1) => void;
  onClose: () => void;
};

/** One picture, to be looked at closely; its placeholder until it is here. */
export function ViewerStage({ body, alt, file, keys, onTurn, onClose }: StageProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { url, state, load, isOutOfReach } = file;
  const [thumb] = useState(() => thumbToUrl(body.thumb));
  const frame = useRef<HTMLDivElement>(null);
  const zoom = useZoom(body, frame, { turn: onTurn, close: onClose });
  keys.current = zoom.press;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each picture
  useEffect(() => {
    if (state === "absent" && !isOutOfReach) load();
  }, [state === "absent" && !isOutOfReach]);
  const coming = (
    <p role="status" className="flex items-center gap-2 rounded-full bg-black/60 px-4 py-2 text-sm">
      <span className="spinner text-xl" aria-hidden="true" />
      {formatBytes(body.size, language)}
      <span className="sr-only">{t("common.loading")}</span>
    </p>
  );
  const failed = <PictureFailed text={t("messages.photoFailed")} onAgain={load} />;
  return (
    <Zoomed frame={frame} zoom={zoom} over={url ? null : state === "failed" || isOutOfReach ? failed : coming}>
      <img
        src={url ?? thumb}
        alt={alt}
        draggable={false}
        data-scale={zoom.pose.scale}
        className={`absolute inset-0 m-auto max-h-full max-w-full ${url ? "" : "size-full object-contain blur-sm"}`}
      />
    </Zoomed>
  );
}
