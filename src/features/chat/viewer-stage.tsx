import { type RefObject, useEffect, useRef, useState } from "react";
import type { Body } from "../../../contract/conversations";
import { useZoom } from "../../components/use-zoom";
import { formatBytes } from "../../i18n/format";
import { useLanguage, useT } from "../../i18n/setup";
import { thumbToUrl } from "../../lib/media/thumb";
import type { Attachment } from "./use-attachment";

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
  const t = useT();
  const language = useLanguage();
  const { url, state, load, isOutOfReach } = file;
  const [thumb] = useState(() => thumbToUrl(body.thumb));
  const frame = useRef<HTMLDivElement>(null);
  const { pose, isHeld, press, handlers } = useZoom(body, frame, { turn: onTurn, close: onClose });
  keys.current = press;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each picture
  useEffect(() => {
    if (state === "absent" && !isOutOfReach) load();
  }, [state === "absent" && !isOutOfReach]);
  return (
    <div
      ref={frame}
      className={`absolute inset-0 touch-none overflow-hidden select-none ${pose.scale > 1 ? "cursor-grab" : ""}`}
      {...handlers}
    >
      <div
        className={`absolute inset-0 ${isHeld ? "" : "transition-transform duration-150"}`}
        style={{ transform: `translate(${pose.x}px, ${pose.y}px) scale(${pose.scale})` }}
      >
        <img
          src={url ?? thumb}
          alt={alt}
          draggable={false}
          data-scale={pose.scale}
          className={`absolute inset-0 m-auto max-h-full max-w-full ${url ? "" : "size-full object-contain blur-sm"}`}
        />
      </div>
      {!url && (
        <div className="absolute inset-0 grid place-items-center">
          {state === "failed" || isOutOfReach ? (
            <div className="grid place-items-center gap-3 rounded-card bg-black/60 p-4 text-center" role="alert">
              <p>{t("messages.photoFailed")}</p>
              <button
                type="button"
                className="inline-flex min-h-12 items-center gap-2 rounded-card bg-white/15 px-5 font-semibold"
                onClick={load}
                onPointerDown={(event) => event.stopPropagation()}
              >
                <span className="i-ph-arrow-clockwise-bold" aria-hidden="true" />
                {t("common.retry")}
              </button>
            </div>
          ) : (
            <p role="status" className="flex items-center gap-2 rounded-full bg-black/60 px-4 py-2 text-sm">
              <span className="spinner text-xl" aria-hidden="true" />
              {formatBytes(body.size, language)}
              <span className="sr-only">{t("common.loading")}</span>
            </p>
          )}
        </div>
      )}
    </div>
  );
}
