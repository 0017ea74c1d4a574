import { expect, test } from "vitest";

/** Lines that the client writes to the console: whoever looks over a shoulder, or is sent a screenshot, reads them too. */

const sources = import.meta.glob<string>("../../../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});
const calls = Object.entries(sources).flatMap(([path, text]) =>
  [...text.matchAll(/console\s*\.\s*(\w+)\(([^;]*?)\)(?=[;,)\s])/g)].map(([, level = "", said = ""]) => ({
    path,
    level,
    said: said.trim(),
  })),
);

test("the client writes failures to the console, and nothing that is none", () => {
  const mentions = Object.values(sources)
    .join("\n")
    .match(/\bconsole\b/g)?.length;
  expect(calls).toHaveLength(mentions ?? 0);
  expect(calls.length).toBeGreaterThan(10);
  for (const { path, level } of calls) expect(["warn", "error"], path).toContain(level);
});

test("a line says in fixed words what failed, and the error: no name, number, text or id is put into it", () => {
  for (const { path, said } of calls) expect(said, path).toMatch(/^"[^"$]+"(, (error|reason))?,?$/);
});
