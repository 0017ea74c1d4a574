import { expect, test } from "vitest";
import { removeFormatting } from "#contract/wire/formatting.ts";
import { listMarker, toggleFormat, toggleList, toggleTypedFormat } from "#features/chat/field/format-selection.ts";

/** Toggles a format of the text between brackets, and marks the selection afterwards with brackets. */
const press = (drawn: string, marker = "*"): string => {
  const [before = "", selected = "", after = ""] = drawn.split(/[[\]]/);
  const text = before + selected + after;
  const [start, end] = [before.length, before.length + selected.length];
  const edit = marker === listMarker ? toggleList(text, start, end) : toggleFormat(text, start, end, marker);
  const edited = text.slice(0, edit.start) + edit.replacement + text.slice(edit.end);
  const [from, to] = edit.selection;
  return `${edited.slice(0, from)}[${edited.slice(from, to)}]${edited.slice(to)}`;
};

test.each([
  ["un [mot] ici", "un *[mot]* ici"],
  ["un [mot ]ici", "un *[mot]* ici"],
  ["[ mot]", " *[mot]*"],
  ["ici []", "ici *[]*"],
  ["ici[ ]", "ici *[]*"],
  ["- [un]", "- *[un]*"],
  ["[- un]", "- *[un]*"],
  ["[un\n\n1. deux \ntrois]", "[*un*\n\n1. *deux* \n*trois*]"],
  ["[*un*\ndeux]", "[*un*\n*deux*]"],
  ["*un[]*", "*un*[]"],
  ["*_un[]_*", "*_un_*[]"],
  ["*un*[] 2*3", "*un**[]* 2*3"],
])("%j becomes %j", (drawn, formatted) => expect(press(drawn)).toBe(formatted));

test.each(["[mot]", "un [mot] ici", "ici []", "[deux mots]", "[un\ndeux]"])(
  "the same key removes the format of %j again",
  (drawn) => expect(press(press(drawn))).toBe(drawn),
);

test("a selection that includes the markers loses them", () => {
  expect(press("un [*mot*] ici")).toBe("un [mot] ici");
  expect(press("[*a*]")).toBe("[a]");
});

test("formats are nested, and all of them are read in the message", () => {
  const nested = ["*", "_", "~"].reduce((drawn, marker) => press(drawn, marker), "un [mot] ici");
  expect(nested).toBe("un *_~[mot]~_* ici");
  expect(removeFormatting(nested.replace(/[[\]]/g, ""))).toBe("un mot ici");
});

test.each([
  ["un\nd[eu]x\ntrois", "un\n[- deux]\ntrois"],
  ["[un\n\ndeux]", "[- un\n\n- deux]"],
  ["- un\nd[eux]", "- un\n[- deux]"],
  ["[- un\ndeux]", "[- un\n- deux]"],
  ["[- un\n- deux]", "[un\ndeux]"],
])("lines of %j become list entries or plain lines: %j", (drawn, formatted) =>
  expect(press(drawn, listMarker)).toBe(formatted),
);

test.each(["ici []", "*un[]*", "*_un[]_*", "un*[]*", "*un*[] 2*3", "[]"])(
  "text typed in %j while the format loads stands where the format would have placed it",
  (drawn) => {
    const [before = "", after = ""] = drawn.split("[]");
    const text = `${before}soir${after}`;
    const [start, end] = [before.length, before.length + 4];
    const edit = toggleTypedFormat(text, start, end, "*", end);
    const edited = text.slice(0, edit.start) + edit.replacement + text.slice(edit.end);
    const [caret] = edit.selection;
    expect(`${edited.slice(0, caret)}[]${edited.slice(caret)}`).toBe(press(drawn).replace("[", "soir["));
  },
);
