import * as v from "valibot";
import { expect, it } from "vitest";
import { DisplayName } from "#contract/names/display-names.ts";
import { foldText } from "#contract/text.ts";
import { readRequestedRange } from "#worker/files/download-headers.ts";

// Quadratic or slower code would exceed the test's time limit.

it("a Range header of any length is parsed at once", () => {
  const read = (range: string) => readRequestedRange(new Headers({ range }), 5_000, '"x"');
  expect(read(`bytes=${" ".repeat(2_000_000)}x`)).toBe("all");
  expect(read(`bytes=${"9".repeat(2_000_000)}-`)).toBe("all");
  expect(read("bytes= 10 - 19 ")).toEqual({ offset: 10, length: 10 });
  expect(read("bytes=10-19-29")).toBe("all");
  expect(read("bytes=+1-+2")).toBe("all");
});

it("a letter with any number of combining marks is compared at once, and refused as a name", () => {
  const marks = "\u0301\u0316".repeat(500_000);
  expect(foldText(`E${marks}\u0301te\u0301`)).toBe("ete");
  expect(v.safeParse(DisplayName, `a${marks}`).issues?.[0].message).toBe("invalid_name");
});

it("a name of maximum length is accepted in any normalization form", () => {
  const name = "\u1f82".repeat(50);
  expect(v.parse(DisplayName, name.normalize("NFD"))).toBe(name);
});
