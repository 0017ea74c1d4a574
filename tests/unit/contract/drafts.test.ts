import { expect, it } from "vitest";
import { chooseDraft } from "#contract/settings/drafts.ts";

const stored = { change: 5, base: 2, at: 1_000, text: "stocké", writer: "phone" };
const written = { base: 0, at: 2_000, text: "écrit", writer: "tablet" };

it("takes the first draft, but no end of a draft that there is not", () => {
  expect(chooseDraft(undefined, written)).toEqual(written);
  expect(chooseDraft(undefined, { ...written, text: "" })).toBeUndefined();
});

it("takes the later of two texts that do not know each other, and any text of a device that has seen the stored one", () => {
  expect(chooseDraft(stored, written)).toEqual(written);
  expect(chooseDraft(stored, { ...written, at: 999 })).toBeUndefined();
  expect(chooseDraft(stored, { ...written, at: 999, base: 5 })).toMatchObject({ text: "écrit", base: 5 });
});

it("ends a draft only for a device that has seen it or wrote it", () => {
  expect(chooseDraft(stored, { ...written, text: "" })).toBeUndefined();
  expect(chooseDraft(stored, { ...written, text: "", base: 5 })).toMatchObject({ text: "" });
  expect(chooseDraft(stored, { ...written, text: "", writer: "phone" })).toMatchObject({ text: "" });
});

it("takes a text after the end of another one, whenever it was written", () => {
  expect(chooseDraft({ ...stored, text: "" }, { ...written, at: 1 })).toMatchObject({ text: "écrit" });
});

it("does not count what a device's own draft replaced unseen as seen when it goes on", () => {
  const next = chooseDraft(stored, { ...written, base: 5, writer: "phone" });
  expect(next).toMatchObject({ base: 2 });
  expect(chooseDraft(stored, { ...written, base: 3, writer: "phone" })).toMatchObject({ base: 3 });
});
