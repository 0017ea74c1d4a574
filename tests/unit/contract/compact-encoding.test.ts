import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { InboxRow } from "#contract/conversations.ts";
import { createUuid, packUuid } from "#contract/ids.ts";
import { frameMaxBytes, joinedFramesMax } from "#contract/limits/sockets.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Relation } from "#contract/people.ts";
import { decodeClientFrames } from "#contract/wire/client-frames.ts";
import { toClientFrame, toCommand, toMulticastFrame, toSendFrame } from "#contract/wire/command-frames.ts";
import {
  fromWireBody,
  fromWireMessage,
  fromWirePerson,
  fromWireRow,
  toWireBody,
  toWireMessage,
  toWirePerson,
  toWireRow,
  WireRow,
} from "#contract/wire/compact-encoding.ts";
import {
  decodeServerFrame,
  encodeFrame,
  encodeLiveEdit,
  encodeLiveText,
  joinFrames,
  parsePong,
  type ServerFrame,
  toPongFrame,
  toSocketBase,
} from "#contract/wire/server-frames.ts";

const now = 1_790_000_000_000;
const conversation = "0190a000-0000-7000-8000-000000000001.0190a000-0000-7000-8000-000000000002";

describe("the compact form of a live text", () => {
  test("carries every field and any text back unchanged", () => {
    for (const text of ["Bonjour", "a,b,,c", "[1]", '"', "ligne 1\nligne 2", "👩‍👩‍👧", "0,0,0,0,"]) {
      const frame = { counter: 1_295, handle: 12, seq: 200_000, at: 3_600_123, text };
      expect(decodeServerFrame(encodeLiveText(frame))).toEqual(frame);
    }
  });

  test("keeps a time before the welcome frame negative", () => {
    const frame = { counter: 1, handle: 1, seq: 1, at: -5_000, text: "x" };
    expect(decodeServerFrame(encodeLiveText(frame))).toEqual(frame);
  });

  test("takes at most 12 bytes beyond the text in a chat's first minutes", () => {
    const frame = encodeLiveText({ counter: 30, handle: 3, seq: 120, at: 46_000, text: "" });
    expect(frame.length).toBeLessThanOrEqual(12);
  });
});

describe("the compact form of a live edit", () => {
  test("carries every field and any text back unchanged, and is no live text", () => {
    for (const text of ["Bonjour", "a,b,,c", "[1]", "", "0,0,0,0,", "~1,2,3,4,5,"]) {
      const frame = { counter: 1_295, handle: 12, seq: 200_000, revision: 4_000, edited: 2, text };
      expect(decodeServerFrame(encodeLiveEdit(frame))).toEqual(frame);
      const live = { counter: 1, handle: 2, seq: 3, at: 4, text: `~${text}` };
      expect(decodeServerFrame(encodeLiveText(live))).toEqual(live);
    }
    expect(decodeServerFrame("~1,2,3,4,abc")).toBeUndefined();
  });

  test("takes at most 14 bytes beyond the text, and the command of a first edit as many", () => {
    const push = encodeLiveEdit({ counter: 30, handle: 3, seq: 1_200, revision: 40, edited: 1, text: "" });
    expect(push.length).toBeLessThanOrEqual(14);
    const command = { type: "editMessage", conversation, target: 9, edit: 0, text: "" } as const;
    expect(encodeFrame(toClientFrame(command, 7, 3)).length).toBeLessThanOrEqual(14);
  });
});

describe("a batch of frames of a device", () => {
  const frames = ["Mbote", "é".repeat(8_000), "x".repeat(8_000), "y".repeat(8_000), "fin"].map((text, ref) =>
    toSendFrame(ref, 3, { cid: createUuid(), body: { type: "text", text } }),
  );

  test("is decoded completely and in order, in frames under the size limit", () => {
    const joined = joinFrames(frames.map(encodeFrame));
    expect(joined.length).toBeLessThan(frames.length);
    for (const text of joined) expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(frameMaxBytes);
    expect(joined.flatMap((text) => decodeClientFrames(text))).toEqual(frames);
  });

  test("has as many frames as allowed together, and no more", () => {
    const many = Array.from({ length: joinedFramesMax + 1 }, (_, i) => encodeFrame(["k", i]));
    expect(joinFrames(many).map((text) => decodeClientFrames(text)?.length)).toEqual([joinedFramesMax, 1]);
  });

  test("with one frame is encoded as a single frame", () => {
    expect(joinFrames([encodeFrame(["k", 1])])).toEqual(['["k",1]']);
    expect(joinFrames([])).toEqual([]);
  });
});

test("sockets opened within some minutes share one time base, which is never in the future", () => {
  const first = toSocketBase({ counter: 35, now });
  expect(first.counter).toBeLessThanOrEqual(35);
  expect(first.now).toBeLessThanOrEqual(now);
  expect(toSocketBase({ counter: 36, now: first.now + 60_000 })).toEqual(first);
  expect(toSocketBase(first)).toEqual(first);
});

describe("frames", () => {
  test.each([
    "",
    "x",
    "1,2,3",
    "{}",
    "[]",
    "[1]",
    '["toString"]',
    '["__proto__"]',
    '["h",1,""]',
    '["h",1,"",-1]',
    '["h",1.5,"",0]',
    '["h",1,"",0,0]',
    '["s",1,2,"short","x"]',
    '["s",1,2,"AZCgAAAAcACAAAAAAAAAAQ",5]',
    '["s",1,"not a conversation","AZCgAAAAcACAAAAAAAAAAQ","x"]',
    '["g",1,2,"sideways",0,40]',
    '["k",1e309]',
    '["f",1,"x",null,[[2,"short"]]]',
    '["f",1,"x",null]',
    '["f",1,{"type":"deleted"},null,[]]',
    '["e",1,2]',
    '["e",1,2,-1]',
    '["x",1,2]',
    '["x",1,2,3,4]',
    '["x",1,2,-1,"👍"]',
    '["v",1,2,"0"]',
    '["z",1,2,2]',
    '["z",1,2,true]',
    '["d",1,2]',
    '["d",1,2,0,2]',
    '["t"]',
    '["t",1,2]',
    "[[]]",
    '[["k",1],["k",-1]]',
    '[["k",1],"k"]',
    '[[["k",1]]]',
    `[${Array.from({ length: joinedFramesMax + 1 }, () => '["k",1]').join()}]`,
    "[".repeat(10_000),
    "[".repeat(10_000) + "]".repeat(10_000),
  ])("a device's frame %# that is not part of the protocol is refused", (text) => {
    expect(decodeClientFrames(text)).toBeUndefined();
  });

  test("a server's frame with an extra field or a wrong type is refused", () => {
    expect(decodeServerFrame('["y",1,2,3]')).toBeUndefined();
    expect(decodeServerFrame('["o",1,2,3,"4"]')).toBeUndefined();
    expect(decodeServerFrame('["n",1,"no_such_code"]')).toBeUndefined();
  });

  test.each<ServerFrame>([
    ["y", 7],
    ["y", 7, 12],
    ["n", 7, "not_connected"],
    ["n", 7, "rate_limited", 1_500],
    ["x", "malformed_frame"],
    ["a", 9, 1, 5, 1_000, 2, 6, 1_003],
    ["o", 10, 3, 8, 7],
    ["u", 11, 3, 8, 8, 0, 8],
    ["b", 12, 3, 99],
    ["g", 4, "e1", 3, [[3, -10, 0, "salut"]], false, null],
    ["g", 4, "e1", 3, [[3, -10, 0, "salut"]], false, -2_000],
    ["v", 4, "e1", 3, [[3, -10, 0, { type: "deleted" }]], true],
    ["e", 13, 3, 0, 2, [[3, -10, 0, "gardé", "AZCgAAAAcACAAAAAAAAAAQ", 1]]],
    ["t", 3, 1],
  ])("a server's frame %j is decoded as it was encoded", (...frame) => {
    const sent = frame as unknown as ServerFrame;
    expect(decodeServerFrame(encodeFrame(sent))).toEqual(sent);
  });

  test("a pong carries the counter, and nothing else counts as a pong", () => {
    expect(parsePong(toPongFrame(123_456))).toBe(123_456);
    expect(parsePong("1,2,3,4,x")).toBeUndefined();
    expect(parsePong(".")).toBeUndefined();
  });
});

describe("compact commands", () => {
  const cid = createUuid();

  test("a sent text decodes to its command", () => {
    const frame = toSendFrame(1, 5, { cid, body: { type: "text", text: "Mbote" } });
    const [decoded] = decodeClientFrames(encodeFrame(frame)) ?? [];
    expect(decoded && toCommand(decoded, conversation)).toEqual({
      type: "send",
      conversation,
      messages: [{ cid, body: { type: "text", text: "Mbote" } }],
    });
  });

  test("a forwarded message names its source by handle or by id", () => {
    const body = { type: "text", text: "Mbote", forwarded: { by: createUuid(), name: "Mado" } } as const;
    const source = { conversation, seq: 3 };
    const [sent] = decodeClientFrames(encodeFrame(toSendFrame(1, 5, { cid, body, source }))) ?? [];
    const command = { type: "send", conversation, messages: [{ cid, body, source }] };
    expect(sent && toCommand(sent, conversation)).toEqual(command);
    if (sent?.[0] !== "s") throw new Error("another frame");
    const byHandle = [...sent.slice(0, 5), [9, 3]] as unknown as typeof sent;
    expect(toCommand(byHandle, conversation, (id) => (id === 9 ? conversation : ""))).toEqual(command);
  });

  test("one body to many decodes with the id of each conversation", () => {
    const to = [conversation, conversation].map((one) => ({ conversation: one, cid: createUuid() }));
    const source = { conversation, seq: 3 };
    for (const command of [
      { type: "multicast", body: { type: "text", text: "à tous" }, to },
      { type: "multicast", body: { type: "text", text: "à tous" }, source, to },
    ] as const) {
      const [frame] = decodeClientFrames(encodeFrame(toMulticastFrame(4, { ...command, to }))) ?? [];
      expect(frame && toCommand(frame, "")).toEqual(command);
    }
  });

  test.each([
    { type: "mark", conversation, delivered: 4, read: 3 },
    { type: "clearHistory", conversation, upTo: 4, keep: true },
    { type: "clearHistory", conversation, upTo: 0, keep: false },
    { type: "deleteForEveryone", conversation, seq: 7 },
    { type: "deletePending", conversation, cid: createUuid() },
    { type: "editMessage", conversation, target: 7, edit: 0, text: "corrigé" },
    { type: "editMessage", conversation, target: createUuid(), edit: 2, text: "" },
    { type: "react", conversation, seq: 7, emoji: "👍" },
    { type: "react", conversation, seq: 7, emoji: null },
    { type: "revised", conversation, since: 0 },
    { type: "mute", conversation, muted: true },
    { type: "mute", conversation, muted: false },
    { type: "mute", conversation, muted: true, seconds: 3_600 },
    { type: "page", conversation, direction: "after", seq: 0, limit: 40 },
    { type: "page", conversation, direction: "before", seq: 41, limit: 40 },
    { type: "search", conversation, query: "été", before: 100 },
    { type: "search", conversation, query: "", before: 100, filter: { from: 0, kind: "link", after: 5, before: 9 } },
    { type: "changes", since: 12 },
    { type: "changes", since: 12, before: 40 },
  ] as const)("the command %j survives encoding in a frame", (command) => {
    const [frame] = decodeClientFrames(encodeFrame(toClientFrame(command, 1, conversation))) ?? [];
    expect(frame && toCommand(frame, conversation)).toEqual(command);
  });
});

describe("compact forms of the content of frames", () => {
  test("a message has its client id only if there is one", () => {
    const own: Message = { seq: 3, sender: 1, at: now - 5, body: { type: "text", text: "a" }, cid: createUuid() };
    const other: Message = { seq: 4, sender: 0, at: now, body: { type: "deleted" } };
    expect(fromWireMessage(toWireMessage(own, now), now)).toEqual(own);
    expect(fromWireMessage(toWireMessage(other, now), now)).toEqual(other);
    const held: Message = { ...own, held: true };
    expect(fromWireMessage(toWireMessage(held, now), now)).toEqual(held);
  });

  test("a forwarded text keeps its mark, and only a plain text is encoded as a bare string", () => {
    const plain = { type: "text", text: "Mbote" } as const;
    const passedOn = { ...plain, forwarded: { by: createUuid(), name: "Mado" } };
    expect(toWireBody(plain)).toBe("Mbote");
    expect(toWireBody(passedOn)).toEqual(passedOn);
    for (const body of [plain, passedOn]) expect(fromWireBody(toWireBody(body))).toEqual(body);
  });

  test("an edited text takes five bytes and the digits of its edit more than a text, with or without a reply", () => {
    for (const fields of [{ edited: 3 }, { edited: 1, reply: 40 }]) {
      const body = { type: "text", text: "Mbote", ...fields } as const;
      expect(fromWireBody(toWireBody(body))).toEqual(body);
    }
    expect(toWireBody({ type: "text", text: "Mbote", edited: 3 })).toEqual(["Mbote", 0, 3]);
    expect(fromWireBody(["Mbote", 4])).toEqual({ type: "text", text: "Mbote", reply: 4 });
  });

  test("an inbox row survives encoding", () => {
    const row: InboxRow = {
      handle: 2,
      conversation,
      kind: "private",
      group: null,
      gone: false,
      epoch: "e",
      head: 9,
      at: now - 60_000,
      prior: now - 90_000,
      sender: 1,
      preview: { type: "text", text: "à demain" },
      whole: true,
      unread: 2,
      mentions: [],
      delivered: 9,
      read: 7,
      othersDelivered: 8,
      othersRead: 6,
      hidden: 0,
      open: true,
      muted: false,
      mutedUntil: null,
      mutedExceptMentions: false,
      marked: false,
      archived: false,
      pinnedAt: null,
      flagsRevision: 0,
      pinnedMessages: [],
      kept: false,
      revision: 4,
    };
    for (const flags of [{ muted: true }, { kept: true }, { open: false, muted: true, kept: true }]) {
      expect(fromWireRow(toWireRow({ ...row, ...flags }, now), now)).toEqual({ ...row, ...flags });
    }
    for (const flags of [
      { marked: true, pinnedAt: now - 5_000 },
      { archived: true, muted: true, mutedUntil: 1_790_000_000_000, marked: true },
    ]) {
      const flagged = { ...row, ...flags };
      expect(fromWireRow(v.parse(WireRow, toWireRow(flagged, now)), now)).toEqual(flagged);
    }
    expect(fromWireRow(toWireRow(row, now), now)).toEqual(row);
    // Earlier clients read the lowest bits of the flags alone, also beyond 32 bits.
    const timed = { ...row, muted: true, mutedUntil: 1_900_000_000_000 };
    expect(fromWireRow(toWireRow(timed, now), now)).toEqual(timed);
    expect(Number(toWireRow(timed, now)[12]) & 15).toBe(1 | 2);
    const exceptMentions = { ...timed, mutedExceptMentions: true };
    expect(fromWireRow(toWireRow(exceptMentions, now), now)).toEqual(exceptMentions);
    expect(Number(toWireRow(exceptMentions, now)[12]) & 15).toBe(1 | 2);
    const card = { name: "Famille", picture: null, count: 3, roster: 1, role: "member" as const, number: 2 };
    const group = { ...row, conversation: createUuid(), kind: "group" as const, group: card };
    expect(fromWireRow(toWireRow(group, now), now)).toEqual(group);
    const mentioning = { ...group, mentions: [3, 9] };
    expect(fromWireRow(toWireRow(mentioning, now), now)).toEqual(mentioning);
    expect(toWireRow(mentioning, now)).toHaveLength(toWireRow(group, now).length + 1);
    for (const pinned of [
      { ...group, pinnedAt: now },
      { ...mentioning, pinnedAt: now - 3, archived: true },
      { ...row, flagsRevision: 40 },
      { ...mentioning, flagsRevision: 41, pinnedAt: now },
      { ...row, pinnedMessages: [3, 1] },
      { ...mentioning, flagsRevision: 41, pinnedAt: now, pinnedMessages: [2] },
    ])
      expect(fromWireRow(v.parse(WireRow, toWireRow(pinned, now)), now)).toEqual(pinned);
    const empty = { ...row, preview: null, head: 0, prior: null, open: false };
    expect(fromWireRow(toWireRow(empty, now), now)).toEqual(empty);
  });

  test("a person survives encoding", () => {
    const relation: Relation = {
      profile: { id: createUuid(), username: "Aïcha", phone: "+243810000001", avatar_url: null, created_at: now },
      state: "received",
      request_id: createUuid(),
      connection_id: null,
      since: now,
      blocked: false,
    };
    expect(fromWirePerson(toWirePerson(relation))).toEqual(relation);
    expect(fromWirePerson(toWirePerson({ ...relation, blocked: true }))).toEqual({ ...relation, blocked: true });
    expect(toWirePerson(relation)[0]).toBe(packUuid(relation.profile.id));
  });
});
