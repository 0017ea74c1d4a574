import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { type Crop, dragBy, middleOf, type Point, type Size, zoomTo } from "#lib/media/crop.ts";

const keyStep = 0.04; // of the frame
const keyZoom = 1.1;
const wheelPerPx = 0.0025;

const steps: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -keyStep, y: 0 },
  ArrowRight: { x: keyStep, y: 0 },
  ArrowUp: { x: 0, y: -keyStep },
  ArrowDown: { x: 0, y: keyStep },
};
const zooms: Readonly<Record<string, number>> = { "+": keyZoom, "=": keyZoom, "-": 1 / keyZoom, _: 1 / keyZoom };

/** Places a picture in a square frame by fingers, mouse, wheel and keys. */
export const useCrop = (size: Size, frame: RefObject<HTMLElement | null>) => {
  const [crop, setCrop] = useState<Crop>(() => middleOf(size));
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
    const factor = Math.exp(-event.deltaY * wheelPerPx * (event.ctrlKey ? 4 : 1));
    const at = toPoint(event);
    setCrop((was) => zoomTo(size, was, was.zoom * factor, at));
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
    setZoom: (zoom: number) => setCrop((was) => zoomTo(size, was, zoom)),
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
          const moved = dragBy(size, was, way);
          return wide > 0 ? zoomTo(size, moved, (moved.zoom * wider) / wide, middle) : moved;
        });
      },
      onPointerUp: letGo,
      onPointerCancel: letGo,
      onKeyDown(event: KeyboardEvent) {
        const way = steps[event.key];
        const factor = zooms[event.key];
        if (event.metaKey || event.altKey || event.ctrlKey || (!way && !factor)) return;
        event.preventDefault();
        setCrop((was) => (way ? dragBy(size, was, way) : zoomTo(size, was, was.zoom * (factor ?? 1))));
      },
    },
  };
};
