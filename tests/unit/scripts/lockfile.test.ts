// Covers: scripts/check/lockfile-rules.mjs
import { expect, test } from "vitest";
import { listUnverified, toPackageName } from "#scripts/check/lockfile-rules.mjs";

test("packages without an integrity hash are listed, the project itself and links are not", () => {
  const packages = {
    "": { version: "0.1.0" },
    "node_modules/hono": { version: "4.0.0", integrity: "sha512-x" },
    "node_modules/vite/node_modules/@scope/native": { version: "1.0.0" },
    "node_modules/local": { link: true },
  };
  expect(listUnverified({ packages })).toEqual(["node_modules/vite/node_modules/@scope/native"]);
});

test("the name of a nested package is the part after the last node_modules", () => {
  expect(toPackageName("node_modules/vite/node_modules/@scope/native")).toBe("@scope/native");
});
