import { useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  clampPosition,
  fitPreviewSize,
  getInitialPosition,
  getNextCorner,
  moveByKey,
  type PreviewBounds,
  type PreviewInsets,
  type PreviewPosition,
  toVideoBand,
  type VideoBand,
} from "./preview-position.ts";
import { CallVideo } from "./video.tsx";

const edgePx = 12;
const dragThresholdPx = 6; // moved less than this it was a press

type LocalPreviewProps = {
  stream: MediaStream;
  /** It moves within this. */
  panel: HTMLElement;
  /** There is little room for it. */
  isTight: boolean;
  /** Kept by whoever keeps the call, so that it is there again after the call was put away. */
  spot: PreviewPosition | undefined;
  onMove: (spot: PreviewPosition) => void;
};

/** How much of the panel is the header's and the controls'. */
const measureInsets = (panel: HTMLElement): PreviewInsets => {
  const heightOf = (part: string) => panel.querySelector(`[data-part=${part}]`)?.getBoundingClientRect().height ?? 0;
  return { top: heightOf("header"), right: edgePx, bottom: heightOf("controls") + edgePx, left: edgePx };
};

/** One's own picture, dragged with a finger, moved by arrow keys, set in the next corner by a press. */
export function LocalPreview({ stream, panel, isTight, spot, onMove }: LocalPreviewProps) {
  const { t } = useTranslation();
  const [place, setPlace] = useState<Pick<PreviewBounds, "area" | "insets"> & { band: VideoBand | undefined }>();
  const drag = useRef<{ fromX: number; fromY: number; spot: PreviewPosition; hasMoved: boolean }>(undefined);
  useLayoutEffect(() => {
    const measure = () => {
      const area = { width: panel.clientWidth, height: panel.clientHeight };
      const other = panel.querySelector<HTMLVideoElement>("video[data-fits]");
      const band = other ? toVideoBand(area, { width: other.videoWidth, height: other.videoHeight }) : undefined;
      setPlace({ area, insets: measureInsets(panel), band });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(panel);
    for (const part of panel.querySelectorAll("[data-part]")) observer.observe(part);
    measure();
    // Told by the other side's picture when it comes and when that phone is turned; it does not bubble.
    panel.addEventListener("resize", measure, true);
    return () => {
      observer.disconnect();
      panel.removeEventListener("resize", measure, true);
    };
  }, [panel]);
  if (!place) return null;
  const room = { ...place, size: fitPreviewSize(place.area, place.insets, isTight) };
  // One's own face is known from mirrors; what the camera at the back films is not.
  const isMirrored = stream.getVideoTracks()[0]?.getSettings().facingMode !== "environment";
  const shown = spot ? clampPosition(spot, room) : getInitialPosition(room, place.band);
  return (
    <button
      type="button"
      aria-label={t("calls.preview")}
      title={t("calls.previewHint")}
      className="absolute top-0 left-0 z-2 cursor-grab touch-none overflow-hidden rounded-card border-2 border-white/70 bg-black shadow-lg active:cursor-grabbing"
      style={{ ...room.size, transform: `translate(${shown.x}px, ${shown.y}px)` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { fromX: event.clientX, fromY: event.clientY, spot: shown, hasMoved: false };
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (!from) return;
        const by = { x: event.clientX - from.fromX, y: event.clientY - from.fromY };
        if (!from.hasMoved && Math.hypot(by.x, by.y) < dragThresholdPx) return;
        from.hasMoved = true;
        onMove(clampPosition({ x: from.spot.x + by.x, y: from.spot.y + by.y }, room));
      }}
      onPointerCancel={() => {
        drag.current = undefined;
      }}
      onClick={() => {
        const hasMoved = drag.current?.hasMoved ?? false;
        drag.current = undefined;
        if (!hasMoved) onMove(getNextCorner(shown, room));
      }}
      onKeyDown={(event) => {
        const next = moveByKey(event.key, shown, room);
        if (!next) return;
        event.preventDefault();
        onMove(next);
      }}
    >
      <CallVideo stream={stream} className={`size-full object-cover ${isMirrored ? "-scale-x-100" : ""}`} />
    </button>
  );
}
