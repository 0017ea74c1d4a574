import { describe, expect, it } from "vitest";
import { findAdjacentResult, findMatches, toExcerpt, toResultNumber } from "#features/chat/search/search-matching.ts";

const found = (text: string, query: string) => findMatches(text, query).map(({ start, end }) => text.slice(start, end));

describe("highlighting what a search found", () => {
  it("finds words whatever their case and accents", () => {
    expect(found("Été à Kinshasa, l’ete prochain", "ete")).toEqual(["Été", "ete"]);
    expect(found("cafe\u0301 noir", "CAFÉ")).toEqual(["cafe\u0301"]);
  });

  it("keeps its places right after characters that grow or vanish when folded", () => {
    expect(found("İstanbul 👩‍👩‍👧 ligne", "ligne")).toEqual(["ligne"]);
    expect(found("z\u0300\u0301\u0302a\u0303lgo", "zalgo")).toEqual(["z\u0300\u0301\u0302a\u0303lgo"]);
  });

  it("takes the query literally and finds nothing for an empty one", () => {
    expect(found("a.c abc (a.c)", "a.c")).toEqual(["a.c", "a.c"]);
    expect(found("abc", "")).toEqual([]);
    expect(found("abc", "\u0301")).toEqual([]);
  });

  it("cuts a long message around its first match without splitting a character", () => {
    const { text, spans } = toExcerpt(`${"😀".repeat(300)} rendez-vous ${"b".repeat(500)}`, "rendez");
    expect(text.startsWith("…")).toBe(true);
    expect(text.endsWith("…")).toBe(true);
    expect(text).not.toMatch(/\p{Surrogate}/u);
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(["rendez"]);
  });

  it("leaves a short message whole", () => {
    expect(toExcerpt("court", "our")).toEqual({ text: "court", spans: [{ start: 1, end: 4 }] });
  });
});

describe("a walk through what was found", () => {
  const seqs = [90, 40, 7];

  it("leads from one to the next older one and back, and around the ends", () => {
    expect(seqs.map((seq) => findAdjacentResult(seqs, seq, 1))).toEqual([40, 7, 90]);
    expect(seqs.map((seq) => findAdjacentResult(seqs, seq, -1))).toEqual([7, 90, 40]);
    expect(seqs.map((seq) => toResultNumber(seqs, seq))).toEqual([1, 2, 3]);
  });

  it("goes on from the place of one that is gone, whatever is found before it meanwhile", () => {
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
