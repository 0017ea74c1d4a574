import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { isAcceptablePassword } from "#contract/auth/sign-in.ts";
import { isListed } from "#contract/conversations.ts";
import { errorCodes, isErrorCode, isPermanentError } from "#contract/errors.ts";
import { cleanFileName, FileName } from "#contract/files.ts";
import { GroupName } from "#contract/groups.ts";
import {
  ConversationId,
  createUuid,
  otherMember,
  packUuid,
  privateConversationId,
  privateMembers,
  Uuid,
  unpackUuid,
} from "#contract/ids.ts";
import { Body } from "#contract/messages/body.ts";
import { clampReadState, mergeReadStates } from "#contract/messages/positions.ts";
import { toMessageStatus } from "#contract/messages/status.ts";
import { DisplayName } from "#contract/names/display-names.ts";
import { cleanText, foldText, MessageText } from "#contract/text.ts";

const [ana, ben] = [createUuid(1), createUuid(2)];

describe("ids", () => {
  test("a created id is a UUIDv7 that sorts by creation time", () => {
    const ids = [1, 1_000, 1_790_000_000_000, 2 ** 47].map((time) => createUuid(time));
    for (const id of ids) expect(v.is(Uuid, id)).toBe(true);
    expect(ids.map((id) => id[14])).toEqual(["7", "7", "7", "7"]);
    expect([...ids].sort()).toEqual(ids);
  });

  test("packing and unpacking an id returns the same id", () => {
    for (let i = 0; i < 100; i++) {
      const id = createUuid();
      expect(packUuid(id)).toMatch(/^[\w-]{22}$/);
      expect(unpackUuid(packUuid(id))).toBe(id);
    }
  });

  test("a private conversation has the same id for both people", () => {
    const id = privateConversationId(ana, ben);
    expect(privateConversationId(ben, ana)).toBe(id);
    expect(v.is(ConversationId, id)).toBe(true);
    expect(privateMembers(id)).toEqual([ana, ben]);
    expect(otherMember(id, ben)).toBe(ana);
    expect(otherMember(id, createUuid(3))).toBeUndefined();
  });

  test.each(["", "x", `${ben}.${ana}`, `${ana}.${ana}`, `${ana}.`, `${ana}.${ben}.${ben}`, ana.toUpperCase()])(
    "%s is not the id of a conversation",
    (id) => {
      expect(v.is(ConversationId, id)).toBe(false);
    },
  );
});

describe("receipts", () => {
  test("never go back, in whatever order they arrive", () => {
    const marks = [
      { delivered: 5, read: 2 },
      { delivered: 3, read: 3 },
      { delivered: 4, read: 1 },
    ];
    const forward = marks.reduce(mergeReadStates);
    expect(forward).toEqual({ delivered: 5, read: 3 });
    expect(marks.toReversed().reduce(mergeReadStates)).toEqual(forward);
  });

  test("count a read message as delivered", () => {
    expect(mergeReadStates({ delivered: 0, read: 0 }, { delivered: 1, read: 7 })).toEqual({ delivered: 7, read: 7 });
  });

  test("cannot exceed the head of the log", () => {
    expect(clampReadState({ delivered: 1e9, read: 1e9 }, 12)).toEqual({ delivered: 12, read: 12 });
  });

  test("give the four delivery statuses of a message", () => {
    const others = { delivered: 5, read: 3 };
    expect([undefined, 6, 5, 4, 3, 1].map((seq) => toMessageStatus(seq, others))).toEqual([
      "sending",
      "sent",
      "delivered",
      "delivered",
      "read",
      "read",
    ]);
  });
});

describe("the conversation list", () => {
  test("a conversation is listed while something in it is visible, or after it was cleared", () => {
    expect(isListed({ head: 0, hidden: 0, kept: false, gone: false })).toBe(false);
    expect(isListed({ head: 3, hidden: 3, kept: false, gone: false })).toBe(false);
    expect(isListed({ head: 3, hidden: 3, kept: true, gone: false })).toBe(true);
    expect(isListed({ head: 4, hidden: 3, kept: false, gone: false })).toBe(true);
    expect(isListed({ head: 4, hidden: 3, kept: true, gone: true })).toBe(false);
  });
});

describe("a forwarded message", () => {
  const by = "0190a000-0000-7000-8000-000000000001";
  const takes = (name: string): boolean => v.is(Body, { type: "text", text: "Mbote", forwarded: { by, name } });

  test("names its author on one plain line, or not at all", () => {
    expect(["Grâce Mbuyi", ""].map(takes)).toEqual([true, true]);
    expect(["\u202eecârG", "Gr\nâce", "\u200b", " ", "a\u0000b", "\ud800"].map(takes)).not.toContain(true);
  });
});

describe("text", () => {
  test("is cleaned of characters that cannot be stored, and of nothing else", () => {
    expect(cleanText("  a\r\nb\u0000\u0007\tc 👩‍👩‍👧 \u202eרtl\ud800  ")).toBe("a\nb\tc 👩‍👩‍👧 \u202eרtl\ufffd");
    expect(v.is(MessageText, cleanText("x\ud800\u0001"))).toBe(true);
  });

  test.each([
    "",
    "  \n\t ",
    "\u200b\ufeff",
    "\u2060 \u202e",
    "\u0301",
    " \u20e3\ufe0f\n\u0336",
    "\u3164",
    "a\u0000b",
    "a\u0085",
    "\ud83d",
    "x".repeat(8_001),
  ])("message %# is refused", (text) => {
    expect(v.is(MessageText, text)).toBe(false);
  });

  test("a name is one line without invisible or reordering characters", () => {
    expect(v.parse(DisplayName, "  Marie \n Claire ")).toBe("Marie Claire");
    for (const name of ["", " ", "\u0301", "a\u202eb", "a\u200bb", "\ufeff", "a\u0007", "\u3164", "x".repeat(51)]) {
      expect(v.is(DisplayName, name)).toBe(false);
    }
    // Invisible characters must not make a name look like another.
    for (const char of ["\u00ad", "\u034f", "\u061c", "\u115f", "\u17b5", "\u180e", "\u206a", "\u3164", "\u{e0041}"]) {
      expect([char.codePointAt(0), v.is(DisplayName, `Ma${char}rie`)]).toEqual([char.codePointAt(0), false]);
      expect(v.is(FileName, `rap${char}port.pdf`)).toBe(false);
      expect(cleanFileName(`rap${char}port.pdf`)).toBe("rapport.pdf");
    }
    for (const name of ["Zoé Ñandú", "مريم", "ꦱꦸꦮꦶꦠ", "Ana ❤️", "李雷"]) expect(v.is(DisplayName, name)).toBe(true);
    expect(v.is(DisplayName, "<script>alert(1)</script>")).toBe(true);
  });

  test("a name may contain emoji made of several characters, and a joiner nowhere else", () => {
    for (const name of ["Famille 👨‍👩‍👧‍👦", "Dr 👩🏾‍⚕️", "🕵️‍♂️", "🏳️‍🌈 Nous", "❤️‍🔥"]) {
      expect([name, v.parse(GroupName, name)]).toEqual([name, name]);
      expect(v.is(DisplayName, name)).toBe(true);
      expect(v.is(FileName, `${name}.jpg`)).toBe(true);
    }
    for (const name of ["Ma\u200drie", "👨\u200d", "\u200d👨", "👨\u200d\u200d👩", "👨\u200c👩", "👨\u200da"]) {
      expect([name, v.is(GroupName, name)]).toEqual([name, false]);
    }
  });

  test("searching ignores case and accents", () => {
    expect(foldText("L'Été À São Tomé")).toBe("l'ete a sao tome");
  });

  test("searching ignores the open vowels and tones of Lingala", () => {
    expect(foldText("Mɔ́sɔlɔ ya Ɛkólɛ́, ndɔ̌tɔ")).toBe("mosolo ya ekole, ndoto");
  });

  test("searching ignores ligatures", () => {
    expect(foldText("Cœur, ŒUVRE, ex æquo")).toBe("coeur, oeuvre, ex aequo");
  });
});

describe("passwords", () => {
  test("need six characters, a capital letter and a digit, and have a maximum length", () => {
    expect(["Abcde1", "ÉCOLE9", `A1${"x".repeat(126)}`].every(isAcceptablePassword)).toBe(true);
    expect(["Abcd1", "abcdef1", "Abcdefg", "", `A1${"x".repeat(127)}`].some(isAcceptablePassword)).toBe(false);
  });
});

describe("error codes", () => {
  test("are known by name, and an inherited property is no error code", () => {
    expect(errorCodes.every(isErrorCode)).toBe(true);
    expect(["toString", "__proto__", "", 7].some(isErrorCode)).toBe(false);
  });

  test("are permanent only if the refusal will not change", () => {
    expect(isPermanentError("not_connected")).toBe(true);
    for (const code of ["rate_limited", "unavailable", "internal", "session_expired"] as const) {
      expect(isPermanentError(code)).toBe(false);
    }
  });
});
