import { describe, expect, it } from "vitest";
import { RowSwipe } from "#features/conversations/row-swipe.ts";

const at = (clientX: number, clientY = 300) => ({ clientX, clientY });
const screenWidth = 360;

describe("a swipe on a row of the list", () => {
  it("moves the row with the finger to both sides, and acts from 72 pixels on until it comes back", () => {
    const swipe = new RowSwipe(at(180), screenWidth);
    expect(swipe.move(at(170))).toBeUndefined();
    expect([swipe.move(at(109)), swipe.side]).toEqual([-71, undefined]);
    expect([swipe.move(at(108)), swipe.side]).toEqual([-72, "left"]);
    expect([swipe.move(at(20)), swipe.side]).toEqual([-112, "left"]);
    expect([swipe.move(at(175)), swipe.side]).toEqual([-5, undefined]);
    expect([swipe.move(at(260)), swipe.side]).toEqual([80, "right"]);
  });

  it("is a scroll if it begins more vertically, whatever follows", () => {
    const swipe = new RowSwipe(at(180), screenWidth);
    expect(swipe.move(at(190, 320))).toBeUndefined();
    expect([swipe.move(at(300, 320)), swipe.side]).toEqual([undefined, undefined]);
  });

  it.each([10, 350])("is ignored from the edge of the screen at %i pixels, where the browser goes back", (x) => {
    const swipe = new RowSwipe(at(x), screenWidth);
    expect([swipe.move(at(180)), swipe.side]).toEqual([undefined, undefined]);
  });
});
