import { describe, expect, it } from "vitest";
import { collapseText } from "#features/chat/message/collapse-text.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `ligne ${n + 1}`).join("\n");

describe("a long message", () => {
  it("shows its first twenty lines", () => {
    expect(collapseText(lines(60))).toBe(lines(20));
  });

  it("shows its first 1,200 characters, cut between words", () => {
    const start = collapseText("parole ".repeat(500)) ?? "";
    expect(start.length).toBeLessThanOrEqual(1_200);
    expect(start.length).toBeGreaterThan(1_150);
    expect(start.endsWith("parole")).toBe(true);
  });

  it("is cut where there are no words too, but never through a character", () => {
    const start = collapseText(`x${"😀".repeat(2_000)}`) ?? "";
    expect(start).toMatch(/^x(😀)+$/u);
    expect(start.length).toBeGreaterThan(1_190);
  });

  it("is shown whole if only a little would be hidden", () => {
    expect(collapseText(lines(24))).toBeUndefined();
    expect(collapseText("mot ".repeat(350))).toBeUndefined();
    expect(collapseText("Mbote")).toBeUndefined();
  });

  it("is never cut inside a link, which would change its target", () => {
    const before = "mots ".repeat(235);
    const link = `https://lisolo.example/${"a".repeat(200)}`;
    expect(collapseText(`${before}${link} ${"fin ".repeat(400)}`)).toBe(before.trimEnd());
    expect(collapseText(`https://lisolo.example/${"a".repeat(3_000)}`)).toHaveLength(3_023);
  });

  it("is collapsed without parsing the hidden part, however many links it has", () => {
    const start = collapseText("www.a.cd ".repeat(400_000)) ?? ""; // Parsing all of them takes longer than the test's time limit.
    expect(start).toBe("www.a.cd ".repeat(133).trimEnd());
  });
});
