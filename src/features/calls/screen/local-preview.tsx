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
const dragThresholdPx = 6; // a smaller movement counts as a press

type LocalPreviewProps = {
  stream: MediaStream;
  /** Element the preview moves within. */
  panel: HTMLElement;
  /** Whether there is little room. */
  isTight: boolean;
  /** Owned by the parent, so that the position survives minimizing. */
  savedPosition: PreviewPosition | undefined;
  onMove: (position: PreviewPosition) => void;
};

/** Space of the panel taken by header and controls. */
const measureInsets = (panel: HTMLElement): PreviewInsets => {
  const heightOf = (part: string) => panel.querySelector(`[data-part=${part}]`)?.getBoundingClientRect().height ?? 0;
  return { top: heightOf("header"), right: edgePx, bottom: heightOf("controls") + edgePx, left: edgePx };
};

/** Local video preview: dragged by pointer, moved by arrow keys, or set to the next corner by a press. */
export function LocalPreview({ stream, panel, isTight, savedPosition, onMove }: LocalPreviewProps) {
  const { t } = useTranslation();
  const [layout, setLayout] = useState<Pick<PreviewBounds, "area" | "insets"> & { band: VideoBand | undefined }>();
  const drag = useRef<{ fromX: number; fromY: number; start: PreviewPosition; hasMoved: boolean }>(undefined);
  useLayoutEffect(() => {
    const measure = () => {
      const area = { width: panel.clientWidth, height: panel.clientHeight };
      const other = panel.querySelector<HTMLVideoElement>("video[data-fits]");
      const band = other ? toVideoBand(area, { width: other.videoWidth, height: other.videoHeight }) : undefined;
      setLayout({ area, insets: measureInsets(panel), band });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(panel);
    for (const part of panel.querySelectorAll("[data-part]")) observer.observe(part);
    measure();
    // Fired by the remote video when it appears or the other phone is turned; the event does not bubble.
    panel.addEventListener("resize", measure, true);
    return () => {
      observer.disconnect();
      panel.removeEventListener("resize", measure, true);
    };
  }, [panel]);
  if (!layout) return null;
  const bounds = { ...layout, size: fitPreviewSize(layout.area, layout.insets, isTight) };
  // The front camera is mirrored, as in a mirror; the back camera is not.
  const isMirrored = stream.getVideoTracks()[0]?.getSettings().facingMode !== "environment";
  const position = savedPosition ? clampPosition(savedPosition, bounds) : getInitialPosition(bounds, layout.band);
  return (
    <button
      type="button"
      aria-label={t("calls.preview")}
      title={t("calls.previewHint")}
      className="absolute top-0 left-0 z-2 cursor-grab touch-none overflow-hidden rounded-card border-2 border-white/70 bg-black shadow-lg active:cursor-grabbing"
      style={{ ...bounds.size, transform: `translate(${position.x}px, ${position.y}px)` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { fromX: event.clientX, fromY: event.clientY, start: position, hasMoved: false };
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (!from) return;
        const by = { x: event.clientX - from.fromX, y: event.clientY - from.fromY };
        if (!from.hasMoved && Math.hypot(by.x, by.y) < dragThresholdPx) return;
        from.hasMoved = true;
        onMove(clampPosition({ x: from.start.x + by.x, y: from.start.y + by.y }, bounds));
      }}
      onPointerCancel={() => {
        drag.current = undefined;
      }}
      onClick={() => {
        const hasMoved = drag.current?.hasMoved ?? false;
        drag.current = undefined;
        if (!hasMoved) onMove(getNextCorner(position, bounds));
      }}
      onKeyDown={(event) => {
        const next = moveByKey(event.key, position, bounds);
        if (!next) return;
        event.preventDefault();
        onMove(next);
      }}
    >
      <CallVideo stream={stream} className={`size-full object-cover ${isMirrored ? "[transform:scaleX(-1)]" : ""}`} />
    </button>
  );
}
