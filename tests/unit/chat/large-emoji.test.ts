import { expect, test } from "vitest";
import { toTextScale } from "#components/messages/large-emoji.ts";

test.each(["😀", "❤️", "👍🏽", "☝🏿", "👨‍👩‍👧‍👦", "👩🏾‍⚕️", "🇨🇩", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈"])(
  "%s alone is drawn largest",
  (text) => expect(toTextScale(text)).toBe(3),
);

test.each(["😀😀", "👍🏽👍🏽👍🏽", "🇨🇩🇫🇷🇵🇹", "❤️😀1️⃣", "👨🏽‍👩🏽‍👧🏽‍👦🏽👨🏽‍👩🏽‍👧🏽‍👦🏽👨🏽‍👩🏽‍👧🏽‍👦🏽"])(
  "%s is drawn large",
  (text) => expect(toTextScale(text)).toBe(2),
);

test.each([
  "😀😀😀😀",
  "👍🏽👍🏽👍🏽👍🏽",
  "🇨🇩🇨🇩🇨🇩🇨🇩",
  "😀 oui",
  "oui",
  "1",
  "123",
  "#*",
  "©",
  "™",
  "🇨",
  "\u200d",
  "\ufe0f",
  "",
])("%j keeps the size of text", (text) => expect(toTextScale(text)).toBe(1));

test("an endless chain of joined emoji keeps the size of text", () => {
  expect(toTextScale(`👨${"\u200d👨".repeat(8_000)}`)).toBe(1);
});
