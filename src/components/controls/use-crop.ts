import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from "react";
import { type Crop, createCenteredCrop, moveCrop, type Point, type Size, zoomCrop } from "#lib/media/crop.ts";

const keyStepRatio = 0.04; // fraction of the frame
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

/** Crop state of a picture in a square frame, controlled by touch, mouse, wheel and keyboard. */
export const useCrop = (size: Size, frame: RefObject<HTMLElement | null>) => {
  const [crop, setCrop] = useState<Crop>(() => createCenteredCrop(size));
  const pointers = useRef(new Map<number, Point>());

  /** Position in the frame, in fractions of its side. */
  const toPoint = ({ clientX, clientY }: { clientX: number; clientY: number }): Point => {
    const box = frame.current?.getBoundingClientRect();
    return box ? { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height } : { x: 0, y: 0 };
  };

  // Native listener: React's wheel listener is passive, and the page must not zoom along.
  const zoomByWheel = useEffectEvent((event: WheelEvent) => {
    event.preventDefault();
    const factor = Math.exp(-event.deltaY * wheelZoomPerPx * (event.ctrlKey ? 4 : 1));
    const at = toPoint(event);
    setCrop((before) => zoomCrop(size, before, before.zoom * factor, at));
  });
  useEffect(() => {
    const element = frame.current;
    const listener = (event: WheelEvent) => zoomByWheel(event);
    element?.addEventListener("wheel", listener, { passive: false });
    return () => element?.removeEventListener("wheel", listener);
  }, [frame]);

  const removePointer = ({ pointerId }: PointerEvent) => {
    pointers.current.delete(pointerId);
  };
  return {
    crop,
    setZoom: (zoom: number) => setCrop((before) => zoomCrop(size, before, zoom)),
    handlers: {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        pointers.current.set(event.pointerId, toPoint(event));
      },
      onPointerMove(event: PointerEvent) {
        const before = pointers.current.get(event.pointerId);
        if (!before) return;
        const now = toPoint(event);
        const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
        const count = pointers.current.size;
        pointers.current.set(event.pointerId, now);
        const delta = { x: (now.x - before.x) / count, y: (now.y - before.y) / count };
        const distanceBefore = other ? Math.hypot(before.x - other.x, before.y - other.y) : 0;
        const distanceNow = other ? Math.hypot(now.x - other.x, now.y - other.y) : 0;
        const middle = other && { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
        setCrop((before) => {
          const moved = moveCrop(size, before, delta);
          return distanceBefore > 0
            ? zoomCrop(size, moved, (moved.zoom * distanceNow) / distanceBefore, middle)
            : moved;
        });
      },
      onPointerUp: removePointer,
      onPointerCancel: removePointer,
      onKeyDown(event: KeyboardEvent) {
        const delta = arrowKeySteps[event.key];
        const factor = keyZoomFactors[event.key];
        if (event.metaKey || event.altKey || event.ctrlKey || (!delta && !factor)) return;
        event.preventDefault();
        setCrop((before) =>
          delta ? moveCrop(size, before, delta) : zoomCrop(size, before, before.zoom * (factor ?? 1)),
        );
      },
    },
  };
};
