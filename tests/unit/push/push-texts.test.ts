import { expect, test } from "vitest";
import { previewMaxLength } from "#contract/limits.ts";
import { toPreview } from "#contract/wire/preview.ts";
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

test("a caption that was cut ends with an ellipsis", () => {
  const caption = "b".repeat(previewMaxLength);
  const file = { type: "file", file: "", name: "bilan.pdf", size: 1, mime: "application/pdf", text: caption } as const;
  expect(toPreviewText("fr", file, false)).toBe(`bilan.pdf – ${"b".repeat(previewMaxLength - 1)}…`);
});
