// Covers: scripts/check/doc-rules.mjs
import { expect, test } from "vitest";
import {
  definesSymbol,
  findPageProblems,
  listNamedPaths,
  listPlacedSymbols,
  listSteps,
  readComments,
} from "#scripts/check/doc-rules.mjs";

const sections = ["Context", "Decision", "Consequences", "Reconsider when"].map((title) => `## ${title}\n\nText.\n`);
const page = `# Title\n\nDate: 2026-11-21\n\n${sections.join("\n")}`;

test("a decision page with a date and the four headings has no problems", () => {
  expect(findPageProblems(page)).toEqual([]);
});

test("a decision page without a date, with a heading of its own or of more than 60 lines is refused", () => {
  expect(findPageProblems(page.replace("Date: ", "_"))).toHaveLength(1);
  expect(findPageProblems(page.replace("Context", "Why"))).toHaveLength(1);
  expect(findPageProblems(page + "\nline".repeat(60))).toHaveLength(1);
});

test("steps are the table rows with a path and a symbol", () => {
  const table = "| step | path | symbol |\n| --- | --- | --- |\n| **Device** | | |\n| send | `src/a.ts` | `Outbox` |\n";
  expect(listSteps(table)).toEqual([{ path: "src/a.ts", symbol: "Outbox" }]);
});

test("a symbol counts as defined only at the top level of its module", () => {
  expect(definesSymbol("export class Outbox {}", "Outbox")).toBe(true);
  expect(definesSymbol("const x = Outbox;", "Outbox")).toBe(false);
  expect(definesSymbol("export class OutboxRow {}", "Outbox")).toBe(false);
});

test("comments of several lines are read as one, and strings are none", () => {
  const source = '// One\n// and two.\nconst a = "/* b.ts */"; // three\n/**\n * Four\n * and five.\n */\n';
  expect(readComments("a.ts", source).replaceAll(/[\s*]+/g, " ")).toBe(" One and two. three Four and five. ");
});

test("a text names folders and files from the top, and files by their name or the end of their path", () => {
  const text =
    "as in limits.ts, log/member-table.ts and `src/sync`, not x.y, `src/<name>.ts` or https://a.example/b.ts";
  expect(listNamedPaths(text)).toEqual(["limits.ts", "log/member-table.ts", "src/sync"]);
});

test("a symbol is placed in a file by brackets or by in", () => {
  expect(listPlacedSymbols("`send` (src/a.ts), `Outbox` in `src/b/c.ts`. `code` (`src/a.ts`, `src/b.ts`)")).toEqual([
    { symbol: "send", path: "src/a.ts" },
    { symbol: "Outbox", path: "src/b/c.ts" },
  ]);
});
