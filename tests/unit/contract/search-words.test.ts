import { describe, expect, it } from "vitest";
import { createSearchMatcher, toSearchWords } from "#contract/text.ts";

describe("words of a search", () => {
  it("are letters and digits without case and accents, each once, and emoji", () => {
    expect(toSearchWords("L’Été, à l'été: IMG_2031.jpg 👍🏾ok")).toEqual([
      ...["l", "ete", "a", "img", "2031", "jpg"],
      ...["👍", "ok"],
    ]);
  });

  it("longer than forty characters are compared by their beginning", () => {
    expect(toSearchWords("a".repeat(100))).toEqual(["a".repeat(40)]);
    expect(createSearchMatcher("a".repeat(50))("a".repeat(60))).toBe(true);
  });
});

describe("a text matches a query", () => {
  const matches = (text: string, query: string) => createSearchMatcher(query)(text);

  it("if each word of the query begins one of its words", () => {
    expect(matches("Rendez-vous à l'école", "ecol rendez")).toBe(true);
    expect(matches("mɔsɔlɔ ezali te", "mosolo")).toBe(true);
    expect(matches("Parabéns, João", "joao para")).toBe(true);
    expect(matches("bonjour👍", "👍")).toBe(true);
  });

  it("but not if a word is missing or occurs only inside another", () => {
    expect(matches("Rendez-vous à l'école", "ecole demain")).toBe(false);
    expect(matches("démarche", "marche")).toBe(false);
    expect(matches("tout", "?!")).toBe(false);
  });
});
