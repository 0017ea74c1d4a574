import { describe, expect, it } from "vitest";
import { type CallPerspective, formatCallEntry, toCallEntry } from "#components/messages/call-text.ts";
import { describeMessage } from "#components/messages/message-preview-text.ts";
import type { CallBody } from "#contract/calls/call.ts";
import { createUuid } from "#contract/ids.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { createTranslate, type Translate } from "#i18n/setup.ts";

const french = createTranslate("fr", fr);
const caller: CallPerspective = { isMine: true, peerName: "Benoît" };
const callee: CallPerspective = { isMine: false, peerName: "Ana" };

const makeBody = (change: Partial<CallBody>): CallBody => ({
  type: "call",
  id: createUuid(),
  kind: "audio",
  status: "ended",
  seconds: 0,
  ...change,
});
const renderText = (change: Partial<CallBody>, side: CallPerspective, t: Translate = french): string =>
  formatCallEntry(toCallEntry(makeBody(change), side, t), t);

describe("the entry of a call", () => {
  it.each([
    [{ status: "missed" }, "Appel audio annulé", "Appel audio manqué"],
    [{ status: "missed", kind: "video" }, "Appel vidéo annulé", "Appel vidéo manqué"],
    [{ status: "missed", reason: "unanswered" }, "Appel audio sans réponse", "Appel audio manqué"],
    [{ status: "missed", kind: "video", reason: "unanswered" }, "Appel vidéo sans réponse", "Appel vidéo manqué"],
    [{ status: "missed", reason: "busy" }, "Appel audio\u00a0: occupé", "Appel audio manqué"],
    [{ status: "missed", reason: "failed" }, "Appel audio\u00a0: échec", "Appel audio manqué"],
    [{ status: "rejected" }, "Appel audio refusé par Benoît", "Appel audio refusé"],
    [{ status: "rejected", reason: "failed" }, "Appel audio\u00a0: échec", "Appel audio\u00a0: échec"],
    [{ status: "rejected", reason: "busy" }, "Appel audio\u00a0: occupé", "Appel audio manqué"],
    [{ status: "cancelled" }, "Appel audio annulé", "Appel audio annulé"],
    [{ status: "cancelled", reason: "failed" }, "Appel audio\u00a0: échec", "Appel audio\u00a0: échec"],
    [{ status: "ended" }, "Appel audio terminé", "Appel audio terminé"],
    [{ status: "ended", seconds: 42 }, "Appel audio terminé (42 s)", "Appel audio terminé (42 s)"],
    [{ status: "ended", seconds: 192 }, "Appel audio terminé (3 min 12 s)", "Appel audio terminé (3 min 12 s)"],
    [
      { status: "ended", seconds: 3_600, reason: "failed" },
      "Appel audio terminé (60 min 0 s)",
      "Appel audio terminé (60 min 0 s)",
    ],
  ] as const)("of %o reads to the caller as %s, to the callee as %s", (change, own, others) => {
    expect(renderText(change, caller)).toBe(own);
    expect(renderText(change, callee)).toBe(others);
  });

  it("is red to the callee who missed it, and to both if declined; not to a caller who cancelled", () => {
    const isRed = (change: Partial<CallBody>, side: CallPerspective) =>
      toCallEntry(makeBody(change), side, french).isUnsuccessful;
    expect([isRed({ status: "missed" }, callee), isRed({ status: "missed" }, caller)]).toEqual([true, false]);
    expect([isRed({ status: "rejected" }, callee), isRed({ status: "rejected" }, caller)]).toEqual([true, true]);
    for (const status of ["ended", "cancelled"] as const) expect(isRed({ status }, callee)).toBe(false);
    for (const side of [caller, callee]) expect(isRed({ status: "rejected", reason: "failed" }, side)).toBe(false);
    expect([caller, callee].map((side) => isRed({ status: "missed", reason: "failed" }, side))).toEqual([false, true]);
  });

  it("shows its direction and that it was missed by its icon", () => {
    const icon = (change: Partial<CallBody>, side: CallPerspective) => toCallEntry(makeBody(change), side, french).icon;
    expect(icon({}, caller)).not.toBe(icon({}, callee));
    expect(icon({ status: "missed" }, callee)).not.toBe(icon({}, callee));
    expect(icon({ kind: "video" }, caller)).toContain("video");
  });

  it("is in the reader's language, and isolates names of another writing direction", () => {
    expect(renderText({ status: "rejected" }, caller, createTranslate("en", en))).toBe("Audio call declined by Benoît");
    expect(renderText({ status: "missed" }, callee, createTranslate("pt", pt))).toBe("Chamada de voz perdida");
    expect(renderText({ status: "rejected" }, { isMine: true, peerName: "محمد" })).toBe(
      "Appel audio refusé par \u2068محمد\u2069",
    );
  });

  it("is announced to a screen reader as the other person's when it arrives", () => {
    expect(describeMessage(makeBody({ status: "missed" }), french)).toBe("Appel audio manqué");
  });
});
