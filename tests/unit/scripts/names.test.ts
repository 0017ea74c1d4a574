// Covers: scripts/check/name-rules.mjs
import { expect, test } from "vitest";
import { findDuplicateExports, readExportedNames } from "#scripts/check/name-rules.mjs";

test("a module exports the names that it declares, not those it passes on", () => {
  const text = `export { request } from "./api.ts";
export const keep = "a", other = 1;
export type Keep = { part: string };
export default function Screen() {}
class Inner {}`;
  expect([...readExportedNames("a.ts", text)].sort()).toEqual(["Keep", "keep", "other"]);
});

test("a name that two files export is reported once, with both files", () => {
  const names = new Map([
    ["src/a.ts", new Set(["Size", "zoom"])],
    ["src/b.ts", new Set(["Size"])],
  ]);
  expect(findDuplicateExports(names)).toEqual(["Size is exported by src/a.ts, src/b.ts"]);
});
