import { expect, test } from "vitest";

/** Lines that the client writes to the console, which may be seen over a shoulder or sent as a screenshot. */

const sources = import.meta.glob<string>("../../../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});
const calls = Object.entries(sources).flatMap(([path, text]) =>
  [...text.matchAll(/console\s*\.\s*(\w+)\(([^;]*?)\)(?=[;,)\s])/g)].map(([, level = "", message = ""]) => ({
    path,
    level,
    said: message.trim(),
  })),
);

test("the client writes only failures to the console", () => {
  const mentions = Object.values(sources)
    .join("\n")
    .match(/\bconsole\b/g)?.length;
  expect(calls).toHaveLength(mentions ?? 0);
  expect(calls.length).toBeGreaterThan(10);
  for (const { path, level } of calls) expect(["warn", "error"], path).toContain(level);
});

test("a line names the failure in fixed words, and the error, but no name, number, text or id", () => {
  for (const { path, said } of calls) expect(said, path).toMatch(/^"[^"$]+"(, (error|reason))?,?$/);
});
