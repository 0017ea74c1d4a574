import { expect, test } from "vitest";
import { endsRightToLeft, isolateBidi, isRightToLeft } from "#lib/text/bidi.ts";

test.each([
  ["https://example.org/a سلام، كيف الحال؟", true],
  ["www.example.org שלום", true],
  ["+243 81 000 00 01 هو رقمي", true],
  ["a@example.org مرحبا", true],
  ["سلام Jean, rendez-vous à 10:30 (porte 5)!", true],
  ["שלום, ראה https://example.org/א", true],
  ["\u200f123", true],
  ["𞤀𞤣𞤤𞤢𞤥", true], // Adlam, of Fulani
  ["Kinshasa: سلام 123-456", false],
  ["\u200eسلام", false],
  ["https://example.org/سلام", false],
  ["https://example.org/א Bonjour", false],
  ["123 (5)", false],
  ["", false],
])("%s is read from right to left: %s", (text, isRtl) => {
  expect(isRightToLeft(text)).toBe(isRtl);
  expect(endsRightToLeft(text)).toBe(isRtl);
});

test.each([
  ["سلام👋\nBonjour\nمرحبا (1)", true],
  ["سلام👋\nBonjour", false],
  ["Bonjour\nhttps://example.org سلام", true],
  ["سلام\n12:30", false],
  ["Bonjour\n12:30", false],
])("the last paragraph of %j is read from right to left: %s", (text, isRtl) => {
  expect(endsRightToLeft(text)).toBe(isRtl);
});

test("a name in any script written from right to left is isolated in a sentence", () => {
  for (const name of ["سلام", "שלום", "𞤀𞤣𞤤𞤢𞤥"]) expect(isolateBidi(name)).toBe(`\u2068${name}\u2069`);
  expect(isolateBidi("Ana")).toBe("Ana");
});
