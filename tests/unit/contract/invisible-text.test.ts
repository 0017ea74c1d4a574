import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { cleanFileName, FileName } from "#contract/files.ts";
import { GroupName } from "#contract/groups.ts";
import { fileNameMaxLength } from "#contract/limits/files.ts";
import { DisplayName } from "#contract/names/display-names.ts";
import { isBlank, MessageText } from "#contract/text.ts";

/** Code points that no browser draws: each range of Unicode's default ignorables, and blanks outside of it. */
const invisible = [
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x180f, 0x200b, 0x200e, 0x202a, 0x2060],
  ...[0x2065, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff8, 0xfffc, 0x1bca0, 0x1d159],
  ...[0x1d173, 0xe0000, 0xe0001, 0xe0020, 0xe0080, 0xe0100, 0xe01f0, 0xe0fff],
].map((code) => String.fromCodePoint(code));

describe("a text of invisible characters", () => {
  test.each(invisible.map((char) => [char.codePointAt(0)?.toString(16), char]))("is blank: U+%s", (_, char) => {
    expect(isBlank(char)).toBe(true);
    expect(v.is(MessageText, ` ${char}\n${char}`)).toBe(false);
    expect(v.is(DisplayName, char)).toBe(false);
    expect(v.is(GroupName, char)).toBe(false);
  });

  test.each(["\u00a0\u202f", "\u200d\u200d", "\u200e\u200f", "\u115f\u1160", "\u0301\ufff0"])(
    "is blank: %j",
    (text) => {
      expect(v.is(MessageText, text)).toBe(false);
    },
  );

  test.each(["☺︎", "🇨🇩", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{e0001}a"])("with a visible one is not blank: %s", (text) => {
    expect(v.is(MessageText, text)).toBe(true);
  });
});

describe("a name", () => {
  test("has no invisible character that could make it look like another", () => {
    for (const char of invisible) {
      for (const name of [`Ben Test${char}`, `Ben${char} Test`, `${char}Ben Test`]) {
        const { success, output } = v.safeParse(DisplayName, name);
        expect([name, success ? output : "Ben Test"]).toEqual([name, "Ben Test"]); // U+FEFF is a space of JavaScript
        expect(v.is(GroupName, name)).toBe(success);
      }
    }
    for (const name of ["Ben1\ufe0f", "Ben 👍\ufe0f\ufe0f", "Ben 👨\u200d", "Ben\u200cTest", "Ben 🏴\u{e0067}"]) {
      expect([name, v.is(DisplayName, name)]).toEqual([name, false]);
    }
  });

  test.each([
    ["Persian", "مهدی‌زاده"],
    ["Sinhala", "ශ්‍රී"],
    ["Malayalam", "ക്‍ഷ"],
    ["Japanese", "葛\u{e0100}城"],
    ["Mongolian", "ᠨᠠ\u180bᠢ"],
    ["emoji", "Dr 👩🏾‍⚕️ ❤️ ☎︎ 1️⃣ 🕵‍♂️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
  ])("keeps the joiners and variants that its script needs: %s", (_, name) => {
    expect(v.parse(DisplayName, name)).toBe(name);
    expect(cleanFileName(`${name}.jpg`)).toBe(`${name}.jpg`);
  });
});

describe("a file name", () => {
  test.each([
    ["photo 👨‍👩‍👧‍👦.jpg", "photo 👨‍👩‍👧‍👦.jpg"],
    ["new\nline and\ttab.txt", "new line and tab.txt"],
    ["a\r\nb\u2028c.txt", "a b c.txt"],
    ["rap\ufff0port\u{e0fff}.pdf", "rapport.pdf"],
    ["\u202efdp.exe", "fdp.exe"],
    ["\ud800\u200b", "file"],
  ])("%j becomes %j", (name, clean) => expect(cleanFileName(name)).toBe(clean));

  test("is valid once cleaned, whatever it was", () => {
    const pieces = [
      ...invisible,
      "👨",
      "👩🏾",
      "\u200d",
      "\u200c",
      "\ufe0f",
      "م",
      "श",
      "्",
      "1",
      "a",
      ".",
      " ",
      "\n",
      "/",
      "\ud83d",
    ];
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let round = 0; round < 4_000; round++) {
      const name = Array.from({ length: random(200) }, () => pieces[random(pieces.length)]).join("");
      expect([name, v.is(FileName, cleanFileName(name))]).toEqual([name, true]);
    }
  });

  test("is not cut within an emoji", () => {
    for (let length = fileNameMaxLength - 12; length <= fileNameMaxLength; length++) {
      const clean = cleanFileName(`${"a".repeat(length)}👨‍👩‍👧‍👦 et suite.jpeg`);
      expect([clean, v.is(FileName, clean), clean.endsWith(".jpeg")]).toEqual([clean, true, true]);
    }
  });
});
