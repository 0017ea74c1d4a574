import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toolEnv } from "#scripts/run.mjs";
import { countPlaywright, toClosingText } from "#scripts/test-reports.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const tests = `
  import { expect, test } from "@playwright/test";
  test.describe("a group", () => {
    test("passes", () => {});
    test("fails once", ({}, info) => { expect(info.retry, "the first try").toBe(1); });
    test("fails always", () => { throw new Error("never right"); });
    test.skip("is left out", () => {});
  });
`;

let folder: string;
let report: unknown;

/** Playwright's own report of these tests with one retry. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lisolo-reports-"));
  mkdirSync(join(folder, "tests", "e2e"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "playwright.config.ts"), 'export default { testDir: "tests", retries: 1 };');
  writeFileSync(join(folder, "tests", "e2e", "some.test.ts"), tests);
  const file = join(folder, "report.json");
  spawnSync("playwright", ["test", "--reporter=json"], {
    cwd: folder,
    env: toolEnv({ PLAYWRIGHT_JSON_OUTPUT_FILE: file }),
  });
  report = JSON.parse(readFileSync(file, "utf8"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a test that passes when it is run again counts as passed and is listed with its first error", () => {
  const { passed, failed, skipped, failures, flaky } = countPlaywright(report);
  expect({ passed, failed, skipped }).toEqual({ passed: 2, failed: 1, skipped: 1 });
  expect(flaky).toHaveLength(1);
  expect(flaky[0]?.split("\n")[0]).toBe("tests/e2e/some.test.ts › fails once");
  expect(flaky[0]).toContain("the first try");
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatch(/^tests\/e2e\/some\.test\.ts › fails always\n.*never right/);
});

test("the closing text names flaky tests on lines of their own and ends with the numbers", () => {
  const lines = toClosingText(countPlaywright(report)).split("\n");
  expect(lines).toContain("flaky: tests/e2e/some.test.ts › fails once");
  expect(lines).toContain("Failed:");
  expect(lines.at(-1)).toBe("2 passed, 1 failed, 1 skipped");
  const clean = toClosingText({ passed: 3, failed: 0, skipped: 0, failures: [], flaky: [] });
  expect(clean).toBe("3 passed, 0 failed");
});
