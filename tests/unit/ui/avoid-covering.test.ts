import { describe, expect, it } from "vitest";
import { computeShiftDown, computeShiftUp } from "#components/focus/avoid-covering.ts";

const box = (top: number, bottom: number, left = 0, right = 360) => ({ top, bottom, left, right });
const screenPx = 740;

describe("a toast at the top of the page", () => {
  it("moves below the focused field, and covers nothing of it", () => {
    const [card, field] = [box(80, 150), box(88, 136)];
    const shiftPx = computeShiftDown(card, field, screenPx);
    expect(card.top + shiftPx).toBeGreaterThan(field.bottom);
    expect(computeShiftDown(box(80, 150), box(149, 197), screenPx)).toBeGreaterThan(0);
  });

  it("stays where it is while it covers nothing of the field", () => {
    expect(computeShiftDown(box(80, 150), box(150, 198), screenPx)).toBe(0);
    expect(computeShiftDown(box(80, 150), box(20, 80), screenPx)).toBe(0);
    expect(computeShiftDown(box(80, 150, 400, 800), box(88, 136, 0, 400), screenPx)).toBe(0);
  });

  it("stays visible if a keyboard leaves no room below", () => {
    expect(computeShiftDown(box(80, 200), box(88, 136), 250)).toBe(0);
  });
});

describe("a toast at the bottom of the page", () => {
  it("is above the composer and above the focused field", () => {
    const card = box(670, 730);
    const [composer, field] = [box(690, 740), box(560, 610)];
    const shifted = card.bottom - computeShiftUp(card, [composer, field]);
    expect(shifted).toBeLessThanOrEqual(composer.top);
    expect(shifted - (card.bottom - card.top) >= field.bottom || shifted <= field.top).toBe(true);
  });

  it("moves above both if it would cover one after avoiding the other", () => {
    const card = box(670, 730);
    expect(card.bottom - computeShiftUp(card, [box(680, 740), box(610, 670)])).toBeLessThan(610);
  });

  it("stays where it is beside a button, and without room above", () => {
    expect(computeShiftUp(box(670, 730, 0, 200), [box(680, 740, 300, 360)])).toBe(0);
    expect(computeShiftUp(box(10, 70), [box(5, 60)])).toBe(0);
  });
});
