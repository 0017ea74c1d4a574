import { expect, test } from "vitest";
import { previewMaxLength } from "#contract/limits/messages.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { toReactionText } from "#worker/lib/push/reaction-texts.ts";
import { toPreviewText } from "#worker/lib/push/texts.ts";

/** Text of a notification about a message with this text. */
const toText = (text: string) => {
  const { preview, whole } = toPreview({ type: "text", text });
  return toPreviewText("fr", preview, whole);
};

test("a text that fits is shown as it is", () => {
  const text = "a".repeat(previewMaxLength);
  expect(toText(text)).toBe(text);
});

test("a longer text ends with an ellipsis, behind a whole character", () => {
  expect(toText("a".repeat(previewMaxLength + 1))).toBe(`${"a".repeat(previewMaxLength - 1)}…`);
  const family = "👩‍👩‍👧‍👦"; // eleven units
  const start = "a".repeat(previewMaxLength - 5);
  expect(toText(`${start}${family} et la suite`)).toBe(`${start}…`);
  expect(toText(`${"a".repeat(previewMaxLength - 2)} b et la suite`)).toBe(`${"a".repeat(previewMaxLength - 2)}…`);
});

test("the quote in a notification of a reaction is cut between characters", () => {
  const reaction = { people: 1, messages: 1, name: "Ben", emoji: "👍", whole: true };
  const toQuoted = (text: string) => {
    const announced = toReactionText("en", { ...reaction, preview: { type: "text", text } });
    return /“(?<quote>.*)”/u.exec(announced)?.groups?.["quote"];
  };
  const family = "👨‍👩‍👧‍👦"; // eleven units
  for (let units = 70; units <= 80; units++) {
    const start = "a".repeat(units);
    expect(toQuoted(start + family)).toBe(units === 80 ? `${"a".repeat(79)}…` : `${start}…`);
  }
  expect(toQuoted("a".repeat(69) + family)).toBe("a".repeat(69) + family);
});

test("a caption that was cut ends with an ellipsis", () => {
  const caption = "b".repeat(previewMaxLength);
  const file = { type: "file", file: "", name: "bilan.pdf", size: 1, mime: "application/pdf", text: caption } as const;
  expect(toPreviewText("fr", file, false)).toBe(`bilan.pdf – ${"b".repeat(previewMaxLength - 1)}…`);
});
