import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Emoji } from "#contract/wire/command-schemas.ts";
import en from "#features/chat/reactions/emoji/emoji-en.json" with { type: "json" };
import fr from "#features/chat/reactions/emoji/emoji-fr.json" with { type: "json" };
import pt from "#features/chat/reactions/emoji/emoji-pt.json" with { type: "json" };
import { parseEmojiGroups, searchEmoji } from "#features/chat/reactions/emoji-search.ts";

const languages = { fr: parseEmojiGroups(fr), en: parseEmojiGroups(en), pt: parseEmojiGroups(pt) };
const find = (language: keyof typeof languages, query: string) =>
  searchEmoji(languages[language], query).map(({ emoji }) => emoji);

describe("the list of emoji", () => {
  test("is the same in every language, has no emoji twice, and the server accepts each", () => {
    const lists = Object.values(languages).map((groups) => groups.map((group) => group.map(({ emoji }) => emoji)));
    expect(lists[1]).toEqual(lists[0]);
    expect(lists[2]).toEqual(lists[0]);
    const all = (lists[0] ?? []).flat();
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((emoji) => !v.is(Emoji, emoji))).toEqual([]);
    expect(
      Object.values(languages)
        .flat(2)
        .filter(({ name }) => name.trim() === ""),
    ).toEqual([]);
  });
});

describe("the search for an emoji", () => {
  test("finds names and further words in each language, without accents and case", () => {
    expect(find("fr", "fusée")).toContain("🚀");
    expect(find("fr", "FUSEE")).toContain("🚀");
    expect(find("en", "rocket")[0]).toBe("🚀");
    expect(find("pt", "foguete")[0]).toBe("🚀");
    expect(find("fr", "congo")).toEqual(expect.arrayContaining(["🇨🇩", "🇨🇬"]));
  });

  test("needs the beginning of every word, and lists names that begin with the query first", () => {
    expect(find("en", "heart red")).toContain("❤️");
    expect(find("en", "eart")).not.toContain("❤️");
    const cats = searchEmoji(languages.en, "cat");
    expect(cats[0]?.name.startsWith("cat")).toBe(true);
    expect(find("en", "nothing like this")).toEqual([]);
  });

  test("takes an emoji of the keyboard that the list lacks", () => {
    expect(find("fr", " 👩🏽‍🚀 ")).toEqual(["👩🏽‍🚀"]);
  });
});
