import { describe, expect, it } from "vitest";
import {
  createPartMatcher,
  findAdjacentResult,
  findMatches,
  toExcerpt,
  toResultNumber,
} from "#lib/text/search-matching.ts";

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

  it("finds each part of the query anywhere, in any order", () => {
    expect(found("mardi midi au marché", "mar mi")).toEqual(["mar", "mi", "mar"]);
    expect(found("démarche", "marche")).toEqual(["marche"]);
    expect(found("nasali, osali, basali", "sali")).toEqual(["sali", "sali", "sali"]);
    expect(found("今日の会議は中止", "会議")).toEqual(["会議"]);
  });

  it("marks parts that overlap once", () => {
    expect(found("Kinshasa", "kin kinsh")).toEqual(["Kinsh"]);
    expect(found("Kinshasa", "inshas shasa")).toEqual(["inshasa"]);
  });

  it("finds signs as they are written, and any signs for those between words", () => {
    expect(found("(bureau) +243 81", "(bureau")).toEqual(["(bureau"]);
    expect(found("a*b [c]", "*")).toEqual(["*"]);
    expect(found("l’école, rendez vous", "l'ecole rendez-vous")).toEqual(["l’école", "rendez vous"]);
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

describe("a search on this device", () => {
  const corpus = [
    "Numéro +243 81 000 00 07 (bureau)",
    "L’Été à Kinshasa, 5 000 FC",
    "Œuvre complète: cafe\u0301 et café",
    "Mbɔ́tɛ na yo, nasali malamu",
    '50% (a|b) "cité" C:\\tmp',
    "今日の会議は中止",
    "Straße İstanbul 😀 مرحبا",
  ];
  const search = (query: string) => corpus.flatMap((text, index) => (createPartMatcher(query)(text) ? index : []));

  it.each([
    ["(", [0, 4]],
    ["[", []],
    ["*", []],
    ["+243", [0]],
    ["\\", [4]],
    ['"', [4]],
    ["%", [4]],
    ["_", []],
    ["?", []],
    ["^$", []],
    ["a|b", [4]],
    [".*", []],
    ["NEAR", []],
    ["OR", []],
    ["l’été", [1]],
    ["l'ete", [1]],
    ["été", [1, 2]],
    ["œuvre", [2]],
    ["oeuvre", [2]],
    ["mbote", [3]],
    ["sali", [3]],
    ["5 000", [1]],
    ["shasa", [1]],
    ["😀", [6]],
    ["مرحبا", [6]],
    ["会議", [5]],
    ["ß", [6]],
    ["İstanbul", [6]],
    ["istanbul", [6]],
    ["CAFÉ complet", [2]],
  ])("finds %j in %j", (query, indexes) => expect(search(query)).toEqual(indexes));

  it("takes no longer for hostile queries and texts", () => {
    const matches = createPartMatcher(`${"a-".repeat(49)}b`);
    expect(matches("a-".repeat(4_000))).toBe(false);
    expect(createPartMatcher("(".repeat(100))("(".repeat(8_000))).toBe(true);
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
