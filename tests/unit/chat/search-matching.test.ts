import { describe, expect, it } from "vitest";
import { findAdjacentResult, findMatches, toExcerpt, toResultNumber } from "#lib/text/search-matching.ts";

const found = (text: string, query: string) => findMatches(text, query).map(({ start, end }) => text.slice(start, end));

describe("highlighting search results", () => {
  it("finds words in any case and with any accents", () => {
    expect(found("Été à Kinshasa, l’ete prochain", "ete")).toEqual(["Été", "ete"]);
    expect(found("cafe\u0301 noir", "CAFÉ")).toEqual(["cafe\u0301"]);
  });

  it("keeps positions right after characters that change length when folded", () => {
    expect(found("İstanbul 👩‍👩‍👧 ligne", "ligne")).toEqual(["ligne"]);
    expect(found("z\u0300\u0301\u0302a\u0303lgo", "zalgo")).toEqual(["z\u0300\u0301\u0302a\u0303lgo"]);
  });

  it("finds each word of the query at the beginnings of words, in any order", () => {
    expect(found("mardi midi au marché", "mar mi")).toEqual(["mar", "mi", "mar"]);
    expect(found("démarche", "marche")).toEqual([]);
    expect(found("l’école", "ecole")).toEqual(["école"]);
  });

  it("marks the longest of words that begin alike once", () => {
    expect(found("Kinshasa", "kin kinsh")).toEqual(["Kinsh"]);
  });

  it("takes signs as gaps between words and finds nothing for a query without words", () => {
    expect(found("abc (a.c)", "b.c a")).toEqual(["a", "a", "c"]);
    expect(found("a*b", "*")).toEqual([]);
    expect(found("abc", "")).toEqual([]);
    expect(found("abc", "\u0301")).toEqual([]);
  });

  it("shortens a long message around its first match without splitting a character", () => {
    const { text, spans } = toExcerpt(`${"😀".repeat(300)} rendez-vous ${"b".repeat(500)}`, "rendez");
    expect(text.startsWith("…")).toBe(true);
    expect(text.endsWith("…")).toBe(true);
    expect(text).not.toMatch(/\p{Surrogate}/u);
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(["rendez"]);
  });

  it("keeps a short message whole", () => {
    expect(toExcerpt("court", "cou")).toEqual({ text: "court", spans: [{ start: 0, end: 3 }] });
  });
});

describe("navigation between search results", () => {
  const seqs = [90, 40, 7];

  it("moves to the next older result and back, and wraps around", () => {
    expect(seqs.map((seq) => findAdjacentResult(seqs, seq, 1))).toEqual([40, 7, 90]);
    expect(seqs.map((seq) => findAdjacentResult(seqs, seq, -1))).toEqual([7, 90, 40]);
    expect(seqs.map((seq) => toResultNumber(seqs, seq))).toEqual([1, 2, 3]);
  });

  it("continues from the position of a deleted result, whatever is found before it meanwhile", () => {
    expect([findAdjacentResult(seqs, 50, 1), findAdjacentResult(seqs, 50, -1), toResultNumber(seqs, 50)]).toEqual([
      40, 90, 1,
    ]);
    const more = [120, 100, ...seqs];
    expect([findAdjacentResult(more, 90, 1), findAdjacentResult(more, 90, -1), toResultNumber(more, 90)]).toEqual([
      40, 100, 3,
    ]);
    expect(findAdjacentResult([], 90, 1)).toBeUndefined();
  });
});
