import { type PointerEvent, type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import type { Size } from "#lib/media/crop.ts";
import { clampPanZoom, computeFittedSize, fittedState, type PanZoomState, zoomAtPoint } from "./pan-zoom.ts";

const doubleTapScale = 2.5;
const doubleTapMs = 300;
const tapPx = 10;
const swipePx = 60;
const keyStep = 1.5;
const keyPanPx = 80;
const wheelPerPx = 0.0025;

type Point = { x: number; y: number };
type PointerGesture = { pointers: Map<number, Point>; start: Point; moved: boolean };

/**
 * Zooms and pans a picture with touch, wheel, keyboard and double taps. A horizontal swipe on an unzoomed picture turns
 * to the next one, a swipe down closes.
 */
export const usePanZoom = (
  picture: Size,
  frame: RefObject<HTMLElement | null>,
  callbacks: { onTurn: (by: 1 | -1) => void; onClose: () => void },
) => {
  const [pose, setPose] = useState(fittedState);
  const [isHeld, setHeld] = useState(false);
  const latest = useRef(pose); // several pointer events may come before the next render
  const gesture = useRef<PointerGesture>({ pointers: new Map(), start: { x: 0, y: 0 }, moved: false });
  const lastTap = useRef<Point & { at: number }>(undefined);

  const sizeOf = (): Size => {
    const { clientWidth: width = 1, clientHeight: height = 1 } = frame.current ?? {};
    return { width, height };
  };
  const update = (next: PanZoomState) => {
    const size = sizeOf();
    latest.current = clampPanZoom(next, computeFittedSize(picture, size), size);
    setPose(latest.current);
  };

  const refit = useEffectEvent(() => update(latest.current));
  useLayoutEffect(() => {
    const onResize = () => refit();
    addEventListener("resize", onResize);
    return () => removeEventListener("resize", onResize);
  }, []);

  /** Relative to the frame's centre. */
  const toPoint = ({ clientX, clientY }: { clientX: number; clientY: number }): Point => {
    const box = frame.current?.getBoundingClientRect();
    return box ? { x: clientX - box.left - box.width / 2, y: clientY - box.top - box.height / 2 } : { x: 0, y: 0 };
  };

  // React registers wheel listeners as passive, and the page must not zoom with the picture.
  const zoomByWheel = useEffectEvent((event: WheelEvent) => {
    event.preventDefault();
    const scale = latest.current.scale * Math.exp(-event.deltaY * wheelPerPx * (event.ctrlKey ? 4 : 1));
    update(zoomAtPoint(latest.current, scale, toPoint(event)));
  });
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent) => zoomByWheel(event);
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, [frame]);

  const toggle = (point: Point) =>
    update(latest.current.scale > 1 ? fittedState : zoomAtPoint(latest.current, doubleTapScale, point));

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { pointers } = gesture.current;
    pointers.set(event.pointerId, toPoint(event));
    if (pointers.size === 1) gesture.current = { pointers, start: toPoint(event), moved: false };
    setHeld(true);
  };
  const onPointerMove = (event: PointerEvent) => {
    const { pointers, start } = gesture.current;
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = toPoint(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    if (Math.hypot(now.x - start.x, now.y - start.y) > tapPx) gesture.current.moved = true;
    const { current } = latest;
    const moved = {
      ...current,
      x: current.x + (now.x - before.x) / pointers.size,
      y: current.y + (now.y - before.y) / pointers.size,
    };
    if (!other) {
      if (current.scale > 1) update(moved);
      return;
    }
    gesture.current.moved = true;
    const distanceBefore = Math.hypot(before.x - other.x, before.y - other.y);
    const distanceNow = Math.hypot(now.x - other.x, now.y - other.y);
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    update(zoomAtPoint(moved, moved.scale * (distanceBefore > 0 ? distanceNow / distanceBefore : 1), middle));
  };
  const onPointerUp = (event: PointerEvent) => {
    const { pointers, start, moved } = gesture.current;
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    setHeld(false);
    const end = toPoint(event);
    if (!moved) {
      const tap = lastTap.current;
      const isDouble =
        tap && event.timeStamp - tap.at < doubleTapMs && Math.hypot(tap.x - end.x, tap.y - end.y) < 3 * tapPx;
      lastTap.current = isDouble ? undefined : { ...end, at: event.timeStamp };
      if (isDouble) toggle(end);
      return;
    }
    if (latest.current.scale > 1) return;
    const [dx, dy] = [end.x - start.x, end.y - start.y];
    if (Math.abs(dx) > swipePx && Math.abs(dx) > 2 * Math.abs(dy)) callbacks.onTurn(dx < 0 ? 1 : -1);
    else if (dy > swipePx && dy > 2 * Math.abs(dx)) callbacks.onClose();
  };
  const onPointerCancel = (event: PointerEvent) => {
    gesture.current.pointers.delete(event.pointerId);
    setHeld(false);
  };

  /** Returns whether the key had an effect. */
  const press = (key: string): boolean => {
    const { scale, x, y } = latest.current;
    const middle = { x: 0, y: 0 };
    const isZoomed = scale > 1;
    const pan = (dx: number, dy: number) => update({ scale, x: x + dx, y: y + dy });
    if (key === "+" || key === "=") update(zoomAtPoint(latest.current, scale * keyStep, middle));
    else if (key === "-") update(zoomAtPoint(latest.current, scale / keyStep, middle));
    else if (key === "0") update(fittedState);
    else if (key === "ArrowLeft") isZoomed ? pan(keyPanPx, 0) : callbacks.onTurn(-1);
    else if (key === "ArrowRight") isZoomed ? pan(-keyPanPx, 0) : callbacks.onTurn(1);
    else if (key === "ArrowUp" && isZoomed) pan(0, keyPanPx);
    else if (key === "ArrowDown" && isZoomed) pan(0, -keyPanPx);
    else return false;
    return true;
  };

  return { pose, isHeld, press, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel } };
};
