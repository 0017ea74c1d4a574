import type { InboxRow } from "#contract/conversations.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Relation } from "#contract/people.ts";
import { defaultSettings } from "#contract/settings/settings.ts";
import type { AppFrame } from "#contract/wire/app-frames.ts";
import type { ServerFrame } from "#contract/wire/server-frames.ts";

// One example or more of each frame, in all its forms.

/** Base of the sockets that the examples belong to. */
export const base = { counter: 1_600, now: 1_790_000_000_000 };
const { now } = base;

const ana = "0190a000-0000-7000-8000-000000000001";
const ben = "0190a000-0000-7000-8000-000000000002";
const id = `${ana}.${ben}`;
const cid = "0190a000-0000-7000-8000-00000000000a";
const group = "0190a000-0000-7000-8000-00000000000b";
const call = "0190a000-0000-7000-8000-00000000000c";

const text = { type: "text", text: "Mbote" } as const;
const forwarded = { ...text, forwarded: { by: ben, name: "Mado" } } as const;
const image = {
  type: "image",
  file: cid,
  name: "photo.jpg",
  mime: "image/jpeg",
  size: 1_000,
  width: 40,
  height: 30,
  thumb: "abc",
  text: "la plage",
} as const;

const messages: Message[] = [
  { seq: 1, sender: 0, at: now + 1_000, body: text },
  { seq: 2, sender: 0, at: now - 1_000, body: { ...text, reply: 1 } },
  { seq: 3, sender: 0, at: now, body: { ...text, reply: `${group}:7`, edited: 2 } },
  { seq: 4, sender: 0, at: now, body: { ...text, edited: 1 } },
  { seq: 5, sender: 0, at: now, body: forwarded },
  { seq: 6, sender: 0, at: now, body: image },
  { seq: 7, sender: 0, at: now, body: { type: "deleted", by: 0 } },
  { seq: 8, sender: 1, at: now, body: text, cid },
  { seq: 9, sender: 1, at: now, body: text, cid, held: true },
  { seq: 10, sender: 0, at: now, body: text, reactions: "👍" },
  { seq: 11, sender: 1, at: now, body: text, cid, reactions: "👍2." },
  { seq: 12, sender: 1, at: now, body: text, cid, held: true, reactions: "👍" },
];

const plainRow: InboxRow = {
  handle: 2,
  conversation: id,
  kind: "private",
  group: null,
  gone: false,
  epoch: "e",
  head: 9,
  at: now - 60_000,
  sender: 1,
  preview: text,
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
const card = { name: "Famille", picture: null, count: 3, roster: 1, role: "owner" as const, number: 2 };
const groupRow: InboxRow = { ...plainRow, conversation: group, kind: "group", group: card };
const rows: InboxRow[] = [
  plainRow,
  { ...plainRow, preview: null, head: 0, open: false, whole: false },
  { ...plainRow, gone: true, kept: true, marked: true, archived: true, muted: true, mutedUntil: 1_900_000_001_000 },
  { ...plainRow, pinnedAt: now - 5_000, mutedExceptMentions: true, muted: true },
  { ...plainRow, flagsRevision: 40 },
  { ...plainRow, pinnedMessages: [3, 1] },
  groupRow,
  { ...groupRow, mentions: [3, 9] },
  { ...groupRow, pinnedAt: now + 3 },
  { ...groupRow, mentions: [3], flagsRevision: 41, pinnedAt: now, pinnedMessages: [2], preview: { ...text, reply: 4 } },
];

const relation: Relation = {
  profile: { id: ben, username: "Aïcha", phone: "+243810000001", avatar_url: null, created_at: now },
  state: "received",
  request_id: cid,
  connection_id: null,
  since: now,
  blocked: false,
};
const people: Relation[] = [
  relation,
  { ...relation, state: "contact", request_id: null, connection_id: cid, blocked: true, number_notice: "left" },
  { ...relation, state: "none", number_notice: "changed", group_invitations: 3 },
  { ...relation, profile: { ...relation.profile, username: "", phone: "", deleted: true, avatar_url: "a1" } },
];

const openCall = {
  call_id: call,
  conversation: id,
  type: "audio" as const,
  from: ana,
  to: ben,
  from_device: ana,
  to_device: null,
  created_at: now,
  answered_at: null,
};
const notice = { id: cid, event: "signed_in" as const, at: now, session: group, device: "Chrome" };
const settings = { version: 2, settings: defaultSettings };

const changes = {
  epoch: "e1",
  counter: 1_612,
  since: 1_500,
  now: now + 5_000,
  rows: rows.slice(0, 2),
  people: people.slice(0, 1),
  calls: [openCall],
  before: 1_510,
  settings,
  draftHead: 1_400,
  notices: [] as (typeof notice)[],
};
const place = { counter: 1_630, target: 3 };
const acks = [
  { ref: 1, seq: 5, at: now + 1_000 },
  { ref: 2, seq: 6, at: now + 1_003 },
];

export const serverExamples: readonly ServerFrame[] = [
  { type: "welcome", version: 28, ...changes },
  { type: "changes", ref: 7, ...changes, before: null, settings: null },
  { type: "page", ref: 7, epoch: "e1", head: 12, messages, more: true },
  { type: "page", ref: 7, epoch: "e1", head: 0, messages: [], more: false },
  { type: "search", ref: 7, messages: messages.slice(0, 1), before: 40 },
  { type: "search", ref: 7, messages: [], before: null },
  { type: "revisions", ref: 7, epoch: "e1", revision: 4, messages: messages.slice(6, 8), more: false },
  { type: "done", ref: 7 },
  { type: "done", ref: 7, revision: 0 },
  { type: "done", ref: 7, revision: 12 },
  { type: "call", ref: 7, result: { call: openCall, over: null, now } },
  { type: "presence", ref: 7, here: true, seen_at: null },
  { type: "presence", ref: 7, here: false, seen_at: now - 5_000 },
  { type: "refusal", ref: 7, error: "not_connected" },
  { type: "refusal", ref: 7, error: "rate_limited", retryAfterMs: 1_500 },
  { type: "error", error: "malformed_frame" },
  { type: "acknowledgement", counter: 1_609, acks },
  { type: "messages", ...place, messages: messages.slice(1, 3) },
  { type: "messages", ...place, messages: messages.slice(0, 1), acks },
  ...rows.map((row) => ({ type: "row", counter: 1_630, row }) as const),
  { type: "peerRead", ...place, delivered: 8, read: 7 },
  { type: "ownRead", ...place, delivered: 8, read: 7, unread: 1, head: 9 },
  ...people.map((person) => ({ type: "person", counter: 1_630, relation: person }) as const),
  { type: "settings", counter: 1_630, kept: settings },
  { type: "notice", counter: 1_630, notice },
  { type: "notice", counter: 1_630, notice: null },
  { type: "head", ...place, head: 99 },
  { type: "revised", ...place, since: 0, revision: 2, messages: messages.slice(6, 7) },
  { type: "draft", ...place, before: 1_400 },
  { type: "draft", ...place, before: 1_400, base: 1_300, at: now - 2, text: "Mbo" },
  { type: "draft", ...place, before: 1_400, base: 0, at: now + 2, text: "", reply: 4 },
  { type: "typing", target: 3, member: 1 },
  { type: "presenceVisibility" },
  { type: "postDeleted", id: cid },
  { type: "pushKeyChanged" },
  { type: "liveText", ...place, seq: 120, at: now + 46_000, text: "a,b,,c" },
  { type: "liveText", ...place, seq: 120, at: now - 5, text: "~1,2" },
  { type: "liveEdit", ...place, seq: 1_200, revision: 40, edited: 2, text: "corrigé" },
  { type: "reactions", ...place, since: 98, revision: 99, changed: [{ seq: 1_295, summary: "👍" }] },
  {
    type: "reactions",
    ...place,
    since: 94,
    revision: 99,
    changed: [
      { seq: 4, summary: "" },
      { seq: 5, summary: "👍2. ❤️" },
    ],
  },
];

const to = { ref: 7, conversation: 3 };
const source = { conversation: id, seq: 3 };

export const appExamples: readonly AppFrame[] = [
  { type: "hello", version: 28, epoch: "e1", counter: 12 },
  { type: "send", ...to, cid, body: text },
  { type: "send", ...to, cid, body: { ...text, reply: 4 } },
  { type: "send", ...to, conversation: id, cid, body: image, source },
  { type: "multicast", ref: 7, body: text, to: [{ conversation: 3, cid }] },
  {
    type: "multicast",
    ref: 7,
    body: forwarded,
    source,
    to: [
      { conversation: id, cid },
      { conversation: group, cid: call },
    ],
  },
  { type: "react", ...to, seq: 4, emoji: "👍" },
  { type: "react", ...to, seq: 4, emoji: null },
  { type: "revised", ...to, since: 0 },
  { type: "setDraft", ...to, base: 0, ago: 1_000, text: "Mbo" },
  { type: "setDraft", ...to, base: 3, ago: 0, text: "", reply: `${group}:7` },
  { type: "typing", conversation: 3 },
  { type: "mark", conversation: id, delivered: 4, read: 3 },
  { type: "page", ...to, direction: "after", seq: 0, limit: 40 },
  { type: "page", ...to, direction: "before", seq: 41, limit: 40 },
  { type: "search", ...to, query: "été", before: 100 },
  { type: "search", ...to, query: "", before: 100, filter: { from: 0, kind: "link", after: 5, before: 9 } },
  { type: "changes", ref: 7, since: 12 },
  { type: "changes", ref: 7, since: 12, before: 40 },
  { type: "call", ...to, request: { type: "dial", call, kind: "audio", device: ana } },
  { type: "call", ...to, request: { type: "signal", call, from: ana, to: null, signal: "x" } },
  { type: "foreground", isForeground: true },
  { type: "foreground", isForeground: false },
  { type: "presence", ...to },
  { type: "received", messages: 40 },
];
