import { describe, expect, it } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import {
  createDraft,
  type DraftRow,
  endDraft,
  endSentText,
  isDraftShared,
  isEmptyDraft,
  isTyping,
  mergeDrafts,
  parkText,
  setReply,
  typeText,
  typingPauseMs,
  unparkText,
} from "#sync/unsent/draft-row.ts";

const empty = createDraft(privateConversationId(createUuid(), createUuid()));
const type = (row: DraftRow, text: string, before?: string, at = row.at + 1) =>
  typeText(row, { text, before, at, parkedId: `parked ${at}` });
const parkedOf = ({ parked = [] }: DraftRow | undefined = empty) => parked.map(({ text }) => text);
const share = (row: DraftRow): DraftRow => {
  const { unshared: _, ...rest } = row;
  return { ...rest, shared: { change: 1, text: row.text, isOwn: true } };
};

describe("a typed text", () => {
  it("replaces what stood in the field, and parks what another tab has written since", () => {
    const draft = type(type(empty, "un", ""), "un deux", "un");
    expect(draft).toMatchObject({ text: "un deux", unshared: { at: 2 } });
    expect(parkedOf(draft)).toEqual([]);
    expect(parkedOf(type(draft, "autre", "un"))).toEqual(["un deux"]);
    expect(parkedOf(type(draft, "un deux trois", "un"))).toEqual([]); // contains it
    expect(parkedOf(type(draft, "autre"))).toEqual([]); // any text
  });

  it("gives the same draft when it is applied twice", () => {
    const draft = type(type(empty, "un", ""), "deux", "", 5);
    expect(type(draft, "deux", "", 5)).toEqual(draft);
  });

  it("that is blank ends the draft it replaces, not one of another tab, and leaves no row", () => {
    const draft = type(empty, "un");
    expect(isEmptyDraft(type(draft, " \n", "un"))).toBe(true);
    expect(type(draft, "", "autre").text).toBe("un");
    expect(type(share(draft), "", "un")).toMatchObject({
      text: "",
      unshared: { isFinal: true },
      shared: { change: 1 },
    });
  });

  it("is being typed until the pause, and not once its chat was left", () => {
    const draft = type(empty, "un", "", 1_000);
    expect(isTyping(draft, 1_000 + typingPauseMs - 1)).toBe(true);
    expect(isTyping(draft, 1_000 + typingPauseMs)).toBe(false);
    expect(isTyping(share(draft), 1_000)).toBe(false);
    expect(isDraftShared(share(draft))).toBe(true);
    expect(isDraftShared(type(share(draft), "un deux"))).toBe(false);
  });
});

describe("a sent text", () => {
  it("ends its draft with its reply, also with the spaces that a keyboard adds", () => {
    const draft = setReply(type(empty, "un "), 4, 3);
    expect(isEmptyDraft(endSentText(draft, "un", undefined, 4))).toBe(true);
    expect(endSentText(share(draft), "un", undefined, 4)).toMatchObject({
      text: "",
      unshared: { at: 4, isFinal: true },
    });
  });

  it("does not end a draft that its field did not show", () => {
    const draft = type(empty, "d'un autre onglet");
    expect(endSentText(draft, "un", "un", 2).text).toBe("d'un autre onglet");
    expect(endSentText(draft, "un", "d'un autre onglet", 2).text).toBe("");
  });
});

describe("a parked text", () => {
  it("stands once, replaces what it continues, and has no limit of number", () => {
    let draft = parkText(empty, { id: "a", text: "un" });
    draft = parkText(draft, { id: "b", text: "un" });
    draft = parkText(draft, { id: "c", text: "un deux" });
    expect(draft.parked).toEqual([{ id: "c", text: "un deux" }]);
    for (let n = 0; n < 40; n++) draft = parkText(draft, { id: `${n}`, text: `texte ${n}`, target: n + 1 });
    expect(draft.parked).toHaveLength(41);
    draft = parkText(draft, { id: "e", text: "plus tôt", target: 40 }, true);
    expect(parkedOf(draft).slice(-2)).toEqual(["plus tôt", "texte 39"]);
    expect(isEmptyDraft(unparkText(parkText(empty, { id: "a", text: "un" }), "a"))).toBe(true);
    expect(isEmptyDraft(endDraft(draft, 1))).toBe(true);
  });
});

describe("a row that a page could not commit", () => {
  const committed = type(empty, "un");

  it("replaces the row that the page had seen, and the lack of one", () => {
    const left = type(committed, "autre", "un");
    expect(mergeDrafts(committed, left, committed.at)).toBe(left);
    expect(mergeDrafts(undefined, left, undefined)).toBe(left);
    expect(mergeDrafts(committed, undefined, committed.at)).toBeUndefined();
  });

  it("and one that it had not seen: the later wins, and the other text is parked", () => {
    const left = type(empty, "autre", "", 5);
    const later = { ...committed, at: 9 };
    expect(mergeDrafts(committed, left, undefined)).toMatchObject({ text: "autre", parked: [{ text: "un" }] });
    expect(mergeDrafts(later, left, undefined)).toMatchObject({ text: "un", parked: [{ text: "autre" }] });
    expect(mergeDrafts(later, undefined, 1)).toBe(later);
    const again = mergeDrafts(mergeDrafts(later, left, undefined), left, undefined);
    expect(parkedOf(again)).toEqual(["autre"]);
  });
});
