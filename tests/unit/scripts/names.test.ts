// Covers: scripts/check/name-rules.mjs
import { expect, test } from "vitest";
import { findDuplicateExports, findRetiredTerm, readNames } from "#scripts/check/name-rules.mjs";

test("a retired word is found in any part of a name", () => {
  for (const name of ["deed", "callDeeds", "CHAT_DEED", "#deed", "DeedList"])
    expect(findRetiredTerm(name)).toBeDefined();
  for (const name of ["indeed", "action", "heirloom"]) expect(findRetiredTerm(name)).toBeUndefined();
});

test("a retired name is found only as a whole, and names of external interfaces are kept", () => {
  expect(findRetiredTerm("takeIn")).toBe("takeIn: use applyServerChanges");
  expect(findRetiredTerm("takeInput")).toBeUndefined();
  expect(findRetiredTerm("heir")).toBeUndefined();
  expect(findRetiredTerm("findHeir")).toBeDefined();
  expect(findRetiredTerm("constructor")).toBeUndefined();
});

test("comments, strings and re-exports are not names of a module", () => {
  const text = `// a deed
export { request } from "./api.ts";
export const keep = "jot", other = 1;
export type Keep = { deed: string };
export default function Screen() {}
class Inner { #told = 1; }`;
  const { exported, identifiers } = readNames("a.ts", text);
  expect([...exported].sort()).toEqual(["Keep", "keep", "other"]);
  expect(identifiers.has("deed")).toBe(true);
  expect(identifiers.has("#told")).toBe(true);
  expect(identifiers.has("jot")).toBe(false);
});

test("a name that two files export is reported once, with both files", () => {
  const names = new Map([
    ["src/a.ts", new Set(["Size", "zoom"])],
    ["src/b.ts", new Set(["Size"])],
  ]);
  expect(findDuplicateExports(names)).toEqual(["Size is exported by src/a.ts, src/b.ts"]);
});
