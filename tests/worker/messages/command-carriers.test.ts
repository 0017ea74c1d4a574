import * as v from "valibot";
import { beforeAll, expect, test } from "vitest";
import { CallResult } from "#contract/calls/call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { messageTextMaxLength, multicastMax } from "#contract/limits/messages.ts";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { Presence } from "#contract/settings/settings.ts";
import {
  ChangesResult,
  ClearHistoryResult,
  type Command,
  DeleteForEveryoneResult,
  DeletePendingResult,
  DraftResult,
  EditMessageResult,
  FlagsResult,
  ListPage,
  MessageFlagsResult,
  MulticastResult,
  MuteList,
  MuteResult,
  PageResult,
  PinMessageResult,
  ReactResult,
  RelayResult,
  RevisedResult,
  SearchResult,
  SendResult,
  UnreadResult,
} from "#contract/wire/commands.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";
import { makeText, readLog, readRow, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair, type Pair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

/**
 * Commands over HTTP, without a socket. Their effects are tested with the objects; these tests check that they arrive.
 */

const as = (person: { token: string }, method: string, path: string, body?: unknown) =>
  call(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });

/** Two people with three messages, which both have received. */
const newTalk = async (): Promise<Pair> => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  await sendTexts(ana, id, "un", "deux", "trois");
  for (const one of [ana, ben]) await waitUntil(async () => (await readRow(one, id)).head === 3);
  return pair;
};

type Sample = { [T in Command["type"]]: [Extract<Command, { type: T }>, v.GenericSchema] };
const [dialled, anas, bens] = [createUuid(), createUuid(), createUuid()];
const samples = ({ id }: Pick<Pair, "id">): Sample => ({
  send: [{ type: "send", conversation: id, messages: [makeText("quatre")] }, SendResult],
  multicast: [
    { type: "multicast", body: { type: "text", text: "à tous" }, to: [{ conversation: id, cid: createUuid() }] },
    MulticastResult,
  ],
  deleteForEveryone: [{ type: "deleteForEveryone", conversation: id, seq: 2 }, DeleteForEveryoneResult],
  deletePending: [{ type: "deletePending", conversation: id, cid: createUuid() }, DeletePendingResult],
  editMessage: [{ type: "editMessage", conversation: id, target: 2, edit: 0, text: "deux bis" }, EditMessageResult],
  pinMessage: [{ type: "pinMessage", conversation: id, seq: 2, pinned: true }, PinMessageResult],
  react: [{ type: "react", conversation: id, seq: 2, emoji: "❤️" }, ReactResult],
  revised: [{ type: "revised", conversation: id, since: 0 }, RevisedResult],
  setConversationFlags: [{ type: "setConversationFlags", conversation: id, marked: true, pinned: true }, FlagsResult],
  setMessageFlags: [{ type: "setMessageFlags", conversation: id, seq: 2, starred: true }, MessageFlagsResult],
  setDraft: [{ type: "setDraft", conversation: id, base: 0, ago: 10, text: "Mbote", reply: 2 }, DraftResult],
  mute: [{ type: "mute", conversation: id, muted: true }, MuteResult],
  mark: [{ type: "mark", conversation: id, delivered: 1, read: 1 }, UnreadResult],
  clearHistory: [{ type: "clearHistory", conversation: id, upTo: 1, keep: true }, ClearHistoryResult],
  page: [{ type: "page", conversation: id, direction: "before", seq: 9, limit: 5 }, PageResult],
  search: [{ type: "search", conversation: id, query: "trois", before: 9 }, SearchResult],
  changes: [{ type: "changes", since: 0 }, ChangesResult],
  presence: [{ type: "presence", conversation: id }, Presence],
  dial: [{ type: "dial", conversation: id, call: dialled, kind: "audio", device: anas }, CallResult],
  answer: [{ type: "answer", conversation: id, call: dialled, device: bens }, CallResult],
  standing: [{ type: "standing", conversation: id, call: dialled }, CallResult],
  beat: [{ type: "beat", conversation: id, call: dialled }, RelayResult],
  signal: [{ type: "signal", conversation: id, call: dialled, from: anas, to: null, signal: "{}" }, RelayResult],
  hangUp: [{ type: "hangUp", conversation: id, call: dialled, device: anas, status: "ended" }, CallResult],
});
const types = Object.keys(samples({ id: "" })) as Command["type"][];
/** Call state that each of these commands needs. */
const leadingTo: Partial<Record<Command["type"], Command["type"][]>> = {
  answer: ["dial"],
  standing: ["dial"],
  beat: ["dial", "answer"],
  signal: ["dial", "answer"],
  hangUp: ["dial", "answer"],
};

test.each(types)("the command %s gets its result by HTTP", async (type) => {
  const conversation = await newTalk();
  for (const one of [...(leadingTo[type] ?? []), type]) {
    const [command, result] = samples(conversation)[one];
    const { method, path, body } = toHttpRequest(command);
    const answer = await as(one === "answer" ? conversation.ben : conversation.ana, method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(v.safeParse(result, answer.body).success).toBe(true);
  }
});

const listOf = async (person: { token: string }) =>
  v.parse(ListPage, (await as(person, "GET", "/api/conversations")).body).rows.map(({ conversation }) => conversation);
const mutesOf = async (person: { token: string }) =>
  v.parse(MuteList, (await as(person, "GET", "/api/mutes")).body).muted;

test("a cleared conversation stays in the person's list, a deleted one does not, and later messages are in it", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  expect((await as(ben, "POST", `/api/conversations/${id}/clear`, { upTo: 1 })).body).toMatchObject({ hidden: 1 });
  expect(toTexts(await readLog(ben, id))).toEqual(["deux"]);
  expect((await as(ben, "POST", `/api/conversations/${id}/clear`, { upTo: 2 })).body).toMatchObject({ hidden: 2 });
  expect(await listOf(ben)).toEqual([id]);
  await sendTexts(ana, id, "trois", "quatre");
  await waitUntil(async () => (await readRow(ben, id)).head === 4);
  expect((await as(ben, "DELETE", `/api/conversations/${id}?upTo=3`)).body).toMatchObject({ hidden: 3 });
  expect(toTexts(await readLog(ben, id))).toEqual(["quatre"]);
  expect(await listOf(ben)).toEqual([id]);
  expect((await as(ben, "DELETE", `/api/conversations/${id}?upTo=1`)).body).toMatchObject({ hidden: 3 });
  expect((await as(ben, "DELETE", `/api/conversations/${id}`)).body).toMatchObject({ hidden: 4 });
  expect(await listOf(ben)).toEqual([]);
  expect(toTexts(await readLog(ana, id))).toEqual(["un", "deux", "trois", "quatre"]);
});

test("muted conversations are listed to their owner only, until they are unmuted", async () => {
  const { ana, ben, id } = await makePair();
  expect(await mutesOf(ana)).toEqual([]);
  for (let i = 0; i < 2; i++) {
    expect(await as(ana, "PUT", `/api/mutes/${id}`)).toMatchObject({ status: 200, body: { muted: true } });
    expect(await mutesOf(ana)).toEqual([id]);
  }
  expect([await mutesOf(ben), (await readRow(ana, id)).muted]).toEqual([[], true]);
  expect(await as(ana, "DELETE", `/api/mutes/${id}`)).toMatchObject({ status: 200, body: { muted: false } });
  expect(await mutesOf(ana)).toEqual([]);
});

test("one message to many is accepted where writing is allowed, and each refusal has its reason", async () => {
  const { ana, ben, id } = await makePair();
  const stranger = await seedPerson();
  const [cid, other] = [createUuid(), createUuid()];
  const body = {
    body: { type: "text", text: "À tous" },
    to: [
      { conversation: id, cid },
      { conversation: privateConversationId(ana.id, stranger.id), cid: other },
    ],
  };
  const first = await as(ana, "POST", "/api/messages", body);
  expect(first).toMatchObject({
    status: 200,
    body: { sent: [{ conversation: id, cid, seq: 1 }], refused: [{ cid: other, error: "conversation_not_found" }] },
  });
  expect((await as(ana, "POST", "/api/messages", body)).body).toEqual(first.body);
  expect(toTexts(await readLog(ben, id))).toEqual(["À tous"]);
});

test("only its author deletes a message for everybody, and the request can be repeated", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const path = `/api/conversations/${id}/messages`;
  expect(await as(ben, "DELETE", `${path}/1`)).toMatchObject({ status: 403, body: { error_code: "not_your_message" } });
  expect(await as(ana, "DELETE", `${path}/2`)).toMatchObject({
    status: 404,
    body: { error_code: "message_not_found" },
  });
  expect(toTexts(await readLog(ben, id))).toEqual(["un"]);
  for (let i = 0; i < 2; i++) {
    expect(await as(ana, "DELETE", `${path}/1`)).toMatchObject({ status: 200, body: { revision: 1 } });
  }
  expect(toTexts(await readLog(ben, id))).toEqual(["<deleted>"]);
});

const to = [{ conversation: "@", cid: createUuid() }];
const words = { type: "text", text: "Mbote" };
const long = "9".repeat(17);

/** "@" stands for the conversation. */
const malformed: [string, string, unknown?][] = [
  ["POST /api/messages", "no body", undefined],
  ["POST /api/messages", "a list", []],
  ["POST /api/messages", "no conversation", { body: words, to: [] }],
  ["POST /api/messages", "nothing to say", { to }],
  ["POST /api/messages", "a field too many", { body: words, to, sender: 1 }],
  ["POST /api/messages", "no client id", { body: words, to: [{ conversation: "@" }] }],
  ["POST /api/messages", "a conversation that is none", { body: words, to: [{ ...to[0], conversation: "../x" }] }],
  ["POST /api/messages", "too many", { body: words, to: Array.from({ length: multicastMax + 1 }, () => to[0]) }],
  ["POST /api/messages", "a message that says it was deleted", { body: { type: "deleted" }, to }],
  ["POST /api/messages", "a message that says it was withheld", { body: { type: "withheld" }, to }],
  ["POST /api/messages", "a kind there is not", { body: { type: "call", text: "x" }, to }],
  ["POST /api/messages", "a source without a place", { body: words, to, source: { conversation: "@" } }],
  ["POST /api/messages", "a source before the first", { body: words, to, source: { conversation: "@", seq: 0 } }],
  [
    "POST /api/messages",
    "a forwarder's name that is too long",
    { body: { ...words, forwarded: { by: createUuid(), name: "x".repeat(displayNameMaxLength + 1) } }, to },
  ],
  ["DELETE /api/conversations/@/messages/0", "a place before the first"],
  ["DELETE /api/conversations/@/messages/-1", "a negative place"],
  ["DELETE /api/conversations/@/messages/1.5", "half a place"],
  ["DELETE /api/conversations/@/messages/1e3", "a place in another notation"],
  ["DELETE /api/conversations/@/messages/x", "no place"],
  [`DELETE /api/conversations/@/messages/${long}`, "a place of seventeen digits"],
  ["DELETE /api/conversations/x/messages/1", "no conversation"],
  ["GET /api/conversations/@/revisions", "no revision"],
  ["GET /api/conversations/@/revisions?since=-1", "a negative revision"],
  ["GET /api/conversations/@/revisions?since=", "an empty revision"],
  ["GET /api/conversations/@/revisions?since=0&since=1", "two revisions"],
  [`GET /api/conversations/@/revisions?since=${long}`, "a revision of seventeen digits"],
  ["POST /api/conversations/@/clear", "no body", undefined],
  ["POST /api/conversations/@/clear", "a list", []],
  ["POST /api/conversations/@/clear", "no place", {}],
  ["POST /api/conversations/@/clear", "a negative place", { upTo: -1 }],
  ["POST /api/conversations/@/clear", "half a place", { upTo: 0.5 }],
  ["POST /api/conversations/@/clear", "a place that is text", { upTo: "1" }],
  ["POST /api/conversations/@/clear", "a place that is no number", { upTo: null }],
  ["POST /api/conversations/@/clear", "a field too many", { upTo: 1, keep: false }],
  ["DELETE /api/conversations/@?upTo=x", "no place"],
  ["DELETE /api/conversations/@?upTo=-1", "a negative place"],
  ["PATCH /api/conversations/@/flags", "a flag that is text", { marked: "1" }],
  ["PATCH /api/conversations/@/flags", "a flag that there is not", { starred: true }],
  ["PATCH /api/conversations/x/flags", "no conversation", { marked: true }],
  ["PATCH /api/conversations/@/messages/1/flags", "a flag that is text", { starred: "1" }],
  ["PATCH /api/conversations/@/messages/1/flags", "a deletion that is taken back", { deleted: false }],
  ["PATCH /api/conversations/@/messages/0/flags", "a place before the first", { starred: true }],
  ["GET /api/conversations/x/message-flags", "no conversation"],
  ["PUT /api/conversations/@/messages/1/pin", "no value"],
  ["PUT /api/conversations/@/messages/1/pin", "a value that is text", { pinned: "1" }],
  ["PUT /api/conversations/x/messages/1/pin", "no conversation", { pinned: true }],
  ["PUT /api/mutes/x", "no conversation"],
  ["DELETE /api/mutes/x", "no conversation"],
  ["PUT /api/blocks/x", "nobody"],
  ["DELETE /api/blocks/x", "nobody"],
  ["GET /api/blocks?before=-1", "a negative place"],
];

let pair: Pair;
beforeAll(async () => {
  pair = await newTalk();
});

test.each(malformed)("%s with %s is refused and changes nothing", async (route, _, body) => {
  const [method = "", path = ""] = route.replaceAll("@", pair.id).split(" ");
  const before = [await readLog(pair.ben, pair.id), await readRow(pair.ben, pair.id)];
  const filled = body === undefined ? undefined : JSON.parse(JSON.stringify(body).replaceAll("@", pair.id));
  expect(await as(pair.ben, method, path, filled)).toMatchObject({
    status: 400,
    body: { error_code: "invalid_input" },
  });
  expect([await readLog(pair.ben, pair.id), await readRow(pair.ben, pair.id)]).toEqual(before);
});

test.each([
  ["empty_message", { type: "text", text: "  " }],
  ["message_too_long", { type: "text", text: "x".repeat(messageTextMaxLength + 1) }],
  ["invalid_text", { type: "text", text: "a\u0000b" }],
])("a multicast is refused for the same reasons as a single message (%s)", async (code, body) => {
  const answer = await as(pair.ana, "POST", "/api/messages", {
    body,
    to: [{ conversation: pair.id, cid: createUuid() }],
  });
  expect(answer).toMatchObject({ status: 400, body: { error_code: code } });
});
