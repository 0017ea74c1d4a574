import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { InboxRow } from "#contract/conversations.ts";
import { createUuid, packUuid } from "#contract/ids.ts";
import { frameMaxBytes, joinedFramesMax } from "#contract/limits/sockets.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Relation } from "#contract/people.ts";
import { type AppFrame, encodeAppFrame, toAppFrame } from "#contract/wire/app-frames.ts";
import { decodeClientFrames, toCommand } from "#contract/wire/client-frames.ts";
import type { Codec } from "#contract/wire/codec.ts";
import {
  inboxRow,
  storedBody,
  message as wireMessage,
  relation as wirePerson,
} from "#contract/wire/compact-encoding.ts";
import {
  decodeServerFrame,
  encodeServerFrame,
  joinFrames,
  originBase,
  parsePong,
  type ServerFrame,
  toPongFrame,
  toSocketBase,
} from "#contract/wire/server-frames.ts";

const now = 1_790_000_000_000;
const base = { counter: 0, now };
const conversation = "0190a000-0000-7000-8000-000000000001.0190a000-0000-7000-8000-000000000002";
const encode = (frame: ServerFrame) => encodeServerFrame(frame, originBase);
/** Whether a value is the same after its encoding, which is valid. */
const expectKept = <V, W>(codec: Codec<V, W>, value: V) => {
  const wire = codec.encode(value, base);
  expect(v.is(codec.schema, wire)).toBe(true);
  expect(codec.decode(wire, base)).toEqual(value);
};

describe("the compact form of a live text", () => {
  test("carries every field and any text back unchanged", () => {
    for (const text of ["Bonjour", "a,b,,c", "[1]", '"', "ligne 1\nligne 2", "👩‍👩‍👧", "0,0,0,0,"]) {
      const frame = { type: "liveText", counter: 1_295, target: 12, seq: 200_000, at: 3_600_123, text } as const;
      expect(decodeServerFrame(encode(frame))).toEqual(frame);
    }
  });

  test("keeps a time before the welcome frame negative", () => {
    const frame = { type: "liveText", counter: 1, target: 1, seq: 1, at: -5_000, text: "x" } as const;
    expect(decodeServerFrame(encode(frame))).toEqual(frame);
  });

  test("takes at most 12 bytes beyond the text in a chat's first minutes", () => {
    const frame = encode({ type: "liveText", counter: 30, target: 3, seq: 120, at: 46_000, text: "" });
    expect(frame.length).toBeLessThanOrEqual(12);
  });
});

describe("the compact form of a live edit", () => {
  test("carries every field and any text back unchanged, and is no live text", () => {
    for (const text of ["Bonjour", "a,b,,c", "[1]", "", "0,0,0,0,", "~1,2,3,4,5,"]) {
      const edit = { counter: 1_295, target: 12, seq: 200_000, revision: 4_000, edited: 2, text };
      const frame = { type: "liveEdit", ...edit } as const;
      expect(decodeServerFrame(encode(frame))).toEqual(frame);
      const live = { type: "liveText", counter: 1, target: 2, seq: 3, at: 4, text: `~${text}` } as const;
      expect(decodeServerFrame(encode(live))).toEqual(live);
    }
    expect(decodeServerFrame("~1,2,3,4,abc")).toBeUndefined();
  });

  test("takes at most 14 bytes beyond the text", () => {
    const push = encode({ type: "liveEdit", counter: 30, target: 3, seq: 1_200, revision: 40, edited: 1, text: "" });
    expect(push.length).toBeLessThanOrEqual(14);
  });
});

describe("a batch of frames of a device", () => {
  const frames = ["Mbote", "é".repeat(8_000), "x".repeat(8_000), "y".repeat(8_000), "fin"].map(
    (text, ref): AppFrame => ({
      type: "send",
      ref,
      conversation: 3,
      cid: createUuid(),
      body: { type: "text", text },
    }),
  );

  test("is decoded completely and in order, in frames under the size limit", () => {
    const joined = joinFrames(frames.map(encodeAppFrame));
    expect(joined.length).toBeLessThan(frames.length);
    for (const text of joined) expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(frameMaxBytes);
    expect(joined.flatMap((text) => decodeClientFrames(text))).toEqual(frames);
  });

  test("has as many frames as allowed together, and no more", () => {
    const many = Array.from({ length: joinedFramesMax + 1 }, (_, i) => `["k",${i}]`);
    expect(joinFrames(many).map((text) => decodeClientFrames(text)?.length)).toEqual([joinedFramesMax, 1]);
  });

  test("with one frame is encoded as a single frame", () => {
    expect(joinFrames(['["k",1]'])).toEqual(['["k",1]']);
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

  test("a pong carries the counter, and nothing else counts as a pong", () => {
    expect(parsePong(toPongFrame(123_456))).toBe(123_456);
    expect(parsePong("1,2,3,4,x")).toBeUndefined();
    expect(parsePong(".")).toBeUndefined();
  });
});

describe("compact commands", () => {
  const cid = createUuid();
  const decodeCommand = (frame: AppFrame, id: string, idOf?: Parameters<typeof toCommand>[2]) => {
    const [decoded] = decodeClientFrames(encodeAppFrame(frame)) ?? [];
    return decoded && toCommand(decoded, id, idOf);
  };

  test("a sent text decodes to its command", () => {
    const body = { type: "text", text: "Mbote" } as const;
    const frame = { type: "send", ref: 1, conversation: 5, cid, body } as const;
    expect(decodeCommand(frame, conversation)).toEqual({ type: "send", conversation, messages: [{ cid, body }] });
  });

  test("a forwarded message names its source by handle or by id", () => {
    const body = { type: "text", text: "Mbote", forwarded: { by: createUuid(), name: "Mado" } } as const;
    const source = { conversation, seq: 3 };
    const frame = { type: "send", ref: 1, conversation: 5, cid, body, source } as const;
    const command = { type: "send", conversation, messages: [{ cid, body, source }] };
    expect(decodeCommand(frame, conversation)).toEqual(command);
    const byHandle = { ...frame, source: { conversation: 9, seq: 3 } };
    expect(decodeCommand(byHandle, conversation, (id) => (id === 9 ? conversation : ""))).toEqual(command);
  });

  test("one body to many decodes with the id of each conversation", () => {
    const to = [conversation, conversation].map((one) => ({ conversation: one, cid: createUuid() }));
    const source = { conversation, seq: 3 };
    const plain = { type: "multicast", body: { type: "text", text: "à tous" }, to } as const;
    for (const command of [plain, { ...plain, source }])
      expect(decodeCommand({ ...command, ref: 4 }, "")).toEqual(command);
  });

  test.each([
    { type: "mark", conversation, delivered: 4, read: 3 },
    { type: "react", conversation, seq: 7, emoji: "👍" },
    { type: "react", conversation, seq: 7, emoji: null },
    { type: "revised", conversation, since: 0 },
    { type: "page", conversation, direction: "after", seq: 0, limit: 40 },
    { type: "page", conversation, direction: "before", seq: 41, limit: 40 },
    { type: "search", conversation, query: "été", before: 100 },
    { type: "search", conversation, query: "", before: 100, filter: { from: 0, kind: "link", after: 5, before: 9 } },
    { type: "changes", since: 12 },
    { type: "changes", since: 12, before: 40 },
    { type: "presence", conversation },
    { type: "setDraft", conversation, base: 3, ago: 5, text: "Mbo", reply: 4 },
    { type: "standing", conversation, call: createUuid() },
  ] as const)("the command %j survives encoding in a frame", (command) => {
    expect(decodeCommand(toAppFrame(command, 1, conversation), conversation)).toEqual(command);
  });

  test.each([
    ['["d",1,3,4,1]', { type: "clearHistory", conversation, upTo: 4, keep: true }],
    ['["d",1,3,0,0]', { type: "clearHistory", conversation, upTo: 0, keep: false }],
    ['["e",1,3,7]', { type: "deleteForEveryone", conversation, seq: 7 }],
    [`["e",1,3,"${packUuid(cid)}"]`, { type: "deletePending", conversation, cid }],
    ['["E",1,3,7,"corrigé"]', { type: "editMessage", conversation, target: 7, edit: 0, text: "corrigé" }],
    [`["E",1,3,"${packUuid(cid)}","",2]`, { type: "editMessage", conversation, target: cid, edit: 2, text: "" }],
    ['["P",1,3,7,1]', { type: "pinMessage", conversation, seq: 7, pinned: true }],
    ['["z",1,3,1]', { type: "mute", conversation, muted: true }],
    ['["z",1,3,0]', { type: "mute", conversation, muted: false }],
    ['["z",1,3,1,3600]', { type: "mute", conversation, muted: true, seconds: 3_600 }],
    ['["y",1,3,{"marked":true}]', { type: "setConversationFlags", conversation, marked: true }],
    ['["Y",1,3,7,{"starred":true}]', { type: "setMessageFlags", conversation, seq: 7, starred: true }],
  ])("the frame %s is read as its command", (text, command) => {
    const [frame] = decodeClientFrames(text) ?? [];
    expect(frame && toCommand(frame, conversation)).toEqual(command);
  });
});

describe("compact forms of the content of frames", () => {
  test("a message has its client id only if there is one", () => {
    const own: Message = { seq: 3, sender: 1, at: now - 5, body: { type: "text", text: "a" }, cid: createUuid() };
    const other: Message = { seq: 4, sender: 0, at: now, body: { type: "deleted" } };
    for (const message of [own, other, { ...own, held: true as const }]) expectKept(wireMessage, message);
  });

  test("a forwarded text keeps its mark, and only a plain text is encoded as a bare string", () => {
    const plain = { type: "text", text: "Mbote" } as const;
    const passedOn = { ...plain, forwarded: { by: createUuid(), name: "Mado" } };
    expect(storedBody.encode(plain, base)).toBe("Mbote");
    expect(storedBody.encode(passedOn, base)).toEqual(passedOn);
    for (const body of [plain, passedOn]) expectKept(storedBody, body);
  });

  test("an edited text takes five bytes and the digits of its edit more than a text, with or without a reply", () => {
    for (const fields of [{ edited: 3 }, { edited: 1, reply: 40 }, { reply: 4 }])
      expectKept(storedBody, { type: "text", text: "Mbote", ...fields });
    expect(storedBody.encode({ type: "text", text: "Mbote", edited: 3 }, base)).toEqual(["Mbote", 0, 3]);
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
    const timed = { ...row, muted: true, mutedUntil: 1_900_000_000_000 };
    const card = { name: "Famille", picture: null, count: 3, roster: 1, role: "member" as const, number: 2 };
    const group = { ...row, conversation: createUuid(), kind: "group" as const, group: card };
    const mentioning = { ...group, mentions: [3, 9] };
    for (const one of [
      row,
      { ...row, muted: true },
      { ...row, kept: true },
      { ...row, open: false, muted: true, kept: true },
      { ...row, marked: true, pinnedAt: now - 5_000 },
      { ...row, archived: true, muted: true, mutedUntil: 1_790_000_000_000, marked: true },
      timed,
      { ...timed, mutedExceptMentions: true },
      group,
      mentioning,
      { ...group, pinnedAt: now },
      { ...mentioning, pinnedAt: now - 3, archived: true },
      { ...row, flagsRevision: 40 },
      { ...mentioning, flagsRevision: 41, pinnedAt: now },
      { ...row, pinnedMessages: [3, 1] },
      { ...mentioning, flagsRevision: 41, pinnedAt: now, pinnedMessages: [2] },
      { ...row, preview: null, head: 0, open: false },
    ])
      expectKept(inboxRow, one);
    // The lowest bits are the flags, also beyond 32 bits.
    expect(Number(inboxRow.encode(timed, base)[12]) & 15).toBe(1 | 2);
    expect(inboxRow.encode(mentioning, base)).toHaveLength(inboxRow.encode(group, base).length + 1);
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
    for (const one of [relation, { ...relation, blocked: true }]) expectKept(wirePerson, one);
    expect(wirePerson.encode(relation, base)[0]).toBe(packUuid(relation.profile.id));
  });
});
