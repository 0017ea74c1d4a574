import * as v from "valibot";
import { expect, it } from "vitest";
import { DisplayName, foldText } from "#contract/text.ts";
import { readRequestedRange } from "#worker/files/download-headers.ts";

// What takes a time in the square of its length, or worse, does not come to its end before the test is broken off.

it("a Range header of any length is read at once", () => {
  const read = (range: string) => readRequestedRange(new Headers({ range }), 5_000, '"x"');
  expect(read(`bytes=${" ".repeat(2_000_000)}x`)).toBe("all");
  expect(read(`bytes=${"9".repeat(2_000_000)}-`)).toBe("all");
  expect(read("bytes= 10 - 19 ")).toEqual({ offset: 10, length: 10 });
  expect(read("bytes=10-19-29")).toBe("all");
  expect(read("bytes=+1-+2")).toBe("all");
});

it("a letter under any number of marks is compared, and refused as a name, at once", () => {
  const marks = "\u0301\u0316".repeat(500_000);
  expect(foldText(`E${marks}\u0301te\u0301`)).toBe("ete");
  expect(v.safeParse(DisplayName, `a${marks}`).issues?.[0].message).toBe("invalid_name");
});

it("a name as long as names may be is taken in whichever form it is written", () => {
  const name = "\u1f82".repeat(50);
  expect(v.parse(DisplayName, name.normalize("NFD"))).toBe(name);
});
