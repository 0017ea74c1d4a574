import * as v from "valibot";
import { beforeEach, expect, test, vi } from "vitest";
import { Emoji } from "#contract/wire/command-schemas.ts";
import en from "#features/chat/reactions/emoji/emoji-en.json" with { type: "json" };
import {
  readEmojiChoices,
  skinTones,
  toNeutralEmoji,
  withRecentEmoji,
  withSkinTone,
  writeEmojiChoices,
} from "#features/chat/reactions/emoji-choices.ts";
import { parseEmojiGroups } from "#features/chat/reactions/emoji-search.ts";

const me = "11111111-1111-4111-8111-111111111111" as Parameters<typeof readEmojiChoices>[0];
const stored = new Map<string, string>();
beforeEach(() => {
  stored.clear();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
});

test("a skin tone applies to each person of an emoji and replaces its variation selector", () => {
  expect(withSkinTone("👍", "🏽")).toBe("👍🏽");
  expect(withSkinTone("☝️", "🏿")).toBe("☝🏿");
  expect(withSkinTone("👩‍⚕️", "🏾")).toBe("👩🏾‍⚕️");
  expect(withSkinTone("💏", "🏻")).toBe("💏🏻");
});

test("an emoji without skin tones stays as it is", () => {
  for (const emoji of ["😀", "👨‍👩‍👧‍👦", "🇨🇩", "1️⃣"]) expect(withSkinTone(emoji, "🏽")).toBe(emoji);
  expect(withSkinTone("👍", "")).toBe("👍");
});

test("the server accepts every emoji of the list in every skin tone, and each is found by its neutral form", () => {
  const all = parseEmojiGroups(en).flat();
  const toned = all.flatMap(({ emoji }) => skinTones.map((tone) => ({ emoji, toned: withSkinTone(emoji, tone) })));
  expect(new Set(toned.map((one) => one.toned)).size).toBeGreaterThan(all.length + 500);
  expect(toned.filter((one) => !v.is(Emoji, one.toned))).toEqual([]);
  expect(toned.filter((one) => toNeutralEmoji(one.toned) !== toNeutralEmoji(one.emoji))).toEqual([]);
  expect(new Set(all.map(({ emoji }) => toNeutralEmoji(emoji))).size).toBe(all.length);
});

test("recent emoji are listed newest first, each once, and are limited in number", () => {
  let choices = readEmojiChoices(me);
  for (const emoji of ["👍", "😀", "👍"]) choices = withRecentEmoji(choices, emoji);
  expect(choices.recent).toEqual(["👍", "😀"]);
  for (let n = 0; n < 100; n++) choices = withRecentEmoji(choices, `${n}`);
  expect(choices.recent).toHaveLength(24);
  expect(choices.recent[0]).toBe("99");
});

test("the choices of a person are kept beside the journal, which signing out removes", () => {
  writeEmojiChoices(me, { tone: "🏽", recent: ["👍🏽"] });
  expect([...stored.keys()]).toEqual([`lisolo-${me}-emoji`]);
  expect(readEmojiChoices(me)).toEqual({ tone: "🏽", recent: ["👍🏽"] });
});

test.each(["", "{", '{"tone":"x","recent":[]}', '{"tone":"","recent":[1]}'])("stored text %j is ignored", (text) => {
  stored.set(`lisolo-${me}-emoji`, text);
  expect(readEmojiChoices(me)).toEqual({ tone: "", recent: [] });
});
