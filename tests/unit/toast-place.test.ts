import { describe, expect, it } from "vitest";
import { shiftOff } from "../../src/components/keep-off-focus";

const box = (top: number, bottom: number, left = 0, right = 360) => ({ top, bottom, left, right });
const screenPx = 740;

describe("what shows over the page for a moment", () => {
  it("goes below the field somebody types in, and covers nothing of it there", () => {
    const [card, field] = [box(80, 150), box(88, 136)];
    const shiftPx = shiftOff(card, field, screenPx);
    expect(card.top + shiftPx).toBeGreaterThan(field.bottom);
    expect(shiftOff(box(80, 150), box(149, 197), screenPx)).toBeGreaterThan(0);
  });

  it("stays where it is while it covers nothing of it", () => {
    expect(shiftOff(box(80, 150), box(150, 198), screenPx)).toBe(0);
    expect(shiftOff(box(80, 150), box(20, 80), screenPx)).toBe(0);
    expect(shiftOff(box(80, 150, 400, 800), box(88, 136, 0, 400), screenPx)).toBe(0);
  });

  it("stays in sight where a keyboard leaves no room below", () => {
    expect(shiftOff(box(80, 200), box(88, 136), 250)).toBe(0);
  });
});
