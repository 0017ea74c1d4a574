import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { type Crop, createCenteredCrop, moveCrop, type Point, type Size, zoomCrop } from "#lib/media/crop.ts";

const keyStepRatio = 0.04; // of the frame
const keyZoomFactor = 1.1;
const wheelZoomPerPx = 0.0025;

const arrowKeySteps: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -keyStepRatio, y: 0 },
  ArrowRight: { x: keyStepRatio, y: 0 },
  ArrowUp: { x: 0, y: -keyStepRatio },
  ArrowDown: { x: 0, y: keyStepRatio },
};
const keyZoomFactors: Readonly<Record<string, number>> = {
  "+": keyZoomFactor,
  "=": keyZoomFactor,
  "-": 1 / keyZoomFactor,
  _: 1 / keyZoomFactor,
};

/** Places a picture in a square frame by fingers, mouse, wheel and keys. */
export const useCrop = (size: Size, frame: RefObject<HTMLElement | null>) => {
  const [crop, setCrop] = useState<Crop>(() => createCenteredCrop(size));
  const fingers = useRef(new Map<number, Point>());

  /** A point of the frame, in parts of its side. */
  const toPoint = ({ clientX, clientY }: { clientX: number; clientY: number }): Point => {
    const box = frame.current?.getBoundingClientRect();
    return box ? { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height } : { x: 0, y: 0 };
  };

  // React listens to the wheel passively, and the page must not zoom with the picture.
  const onWheel = useRef<(event: WheelEvent) => void>(undefined);
  onWheel.current = (event) => {
    event.preventDefault();
    const factor = Math.exp(-event.deltaY * wheelZoomPerPx * (event.ctrlKey ? 4 : 1));
    const at = toPoint(event);
    setCrop((was) => zoomCrop(size, was, was.zoom * factor, at));
  };
  useEffect(() => {
    const element = frame.current;
    const listener = (event: WheelEvent) => onWheel.current?.(event);
    element?.addEventListener("wheel", listener, { passive: false });
    return () => element?.removeEventListener("wheel", listener);
  }, [frame]);

  const letGo = ({ pointerId }: PointerEvent) => {
    fingers.current.delete(pointerId);
  };
  return {
    crop,
    setZoom: (zoom: number) => setCrop((was) => zoomCrop(size, was, zoom)),
    handlers: {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        fingers.current.set(event.pointerId, toPoint(event));
      },
      onPointerMove(event: PointerEvent) {
        const before = fingers.current.get(event.pointerId);
        if (!before) return;
        const now = toPoint(event);
        const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
        const count = fingers.current.size;
        fingers.current.set(event.pointerId, now);
        const way = { x: (now.x - before.x) / count, y: (now.y - before.y) / count };
        const wide = other ? Math.hypot(before.x - other.x, before.y - other.y) : 0;
        const wider = other ? Math.hypot(now.x - other.x, now.y - other.y) : 0;
        const middle = other && { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
        setCrop((was) => {
          const moved = moveCrop(size, was, way);
          return wide > 0 ? zoomCrop(size, moved, (moved.zoom * wider) / wide, middle) : moved;
        });
      },
      onPointerUp: letGo,
      onPointerCancel: letGo,
      onKeyDown(event: KeyboardEvent) {
        const way = arrowKeySteps[event.key];
        const factor = keyZoomFactors[event.key];
        if (event.metaKey || event.altKey || event.ctrlKey || (!way && !factor)) return;
        event.preventDefault();
        setCrop((was) => (way ? moveCrop(size, was, way) : zoomCrop(size, was, was.zoom * (factor ?? 1))));
      },
    },
  };
};
