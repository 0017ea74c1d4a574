import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as v from "valibot";
import { expect, test, vi } from "vitest";
import { type ConversationId, createUuid, privateConversationId } from "#contract/ids.ts";
import {
  conversationResultsMax,
  searchedConversationsMax,
  searchSliceBurst,
  searchSlicesMax,
  searchSlicesPerSecond,
} from "#contract/limits/search.ts";
import { type GlobalSearch, GlobalSearchResult } from "#contract/wire/global-search.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { request, sendTexts, toTexts } from "#tests/worker/support/device.ts";
import { makeFriends, makeGroup, makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { countDirectoryRows } from "#tests/worker/support/row-counter.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

/** Searches in several conversations by one request (docs/decisions/search.md). */

const post = (by: Person, body: unknown) => call("POST", "/api/search", { token: by.token, body });

const search = async (
  by: Person,
  query: string,
  targets: (ConversationId | GlobalSearch["targets"][number])[],
  filter?: GlobalSearch["filter"],
) => {
  const objects = targets.map((target) => (typeof target === "string" ? { conversation: target } : target));
  const { status, body } = await post(by, { query, filter, targets: objects });
  expect(status, JSON.stringify(body)).toBe(200);
  return v.parse(GlobalSearchResult, body).results;
};

/** Texts found in each conversation. */
const findTexts = async (by: Person, query: string, ...targets: ConversationId[]) =>
  (await search(by, query, targets)).map((result) => result && toTexts(result.messages));

const nothing = { messages: [], before: null };

type Spied = Record<"searchMessages", (...args: unknown[]) => Promise<unknown>>;
/** Replaces the search of a conversation, or counts it. */
const spyOnSearch = (id: ConversationId, run?: () => Promise<unknown>): Promise<{ count: () => number }> =>
  runInDurableObject(env.CONVERSATION.getByName(id), (conversation) => {
    const spy = vi.spyOn(Object.getPrototypeOf(conversation) as Spied, "searchMessages");
    if (run) spy.mockImplementation(run);
    return { count: () => spy.mock.calls.length };
  });

test("one request searches private chats and groups, archived and blocked ones too, the newest messages of each first", async () => {
  const [ana, ben, cal] = await makeFriends(3);
  if (!ben || !cal) throw new Error("too few people");
  const [withBen, withCal] = [privateConversationId(ana.id, ben.id), privateConversationId(ana.id, cal.id)];
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cal], group);
  await sendTexts(ben, withBen, ...Array.from({ length: 7 }, (_, i) => `Mɔsɔlɔ ${i + 1}`));
  await sendTexts(cal, withCal, "mosolo ya Cal");
  await sendTexts(ana, group, "rien", "le Mosolo commun");
  await request(ana, { type: "setConversationFlags", conversation: withCal, archived: true });
  await call("PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  const [first, second, third] = await search(ana, "mosolo", [withBen, withCal, group]);
  expect(toTexts(first?.messages ?? [])).toEqual([7, 6, 5, 4, 3].map((i) => `Mɔsɔlɔ ${i}`));
  expect(first?.messages).toHaveLength(conversationResultsMax);
  expect([second, third].map((result) => result && toTexts(result.messages))).toEqual([
    ["mosolo ya Cal"],
    ["le Mosolo commun"],
  ]);
  expect([second?.before, third?.before]).toEqual([null, null]);
  const [rest] = await search(ana, "mosolo", [{ conversation: withBen, before: first?.before ?? 1 }]);
  expect(rest && toTexts(rest.messages)).toEqual(["Mɔsɔlɔ 2", "Mɔsɔlɔ 1"]);
  expect(rest?.before).toBeNull();
});

test("nobody finds what was written before they joined or after they left, what they cleared, or what was deleted", async () => {
  const { id: group, owner, others } = await makeSyncedGroup(3);
  const [ben, cal] = others;
  if (!ben || !cal) throw new Error("too few people");
  const withBen = privateConversationId(owner.id, ben.id);
  await sendTexts(owner, group, "secret avant");
  const dora = await seedPerson();
  await befriend(owner, dora);
  await requestAs(owner, "POST", `/api/groups/${group}/members`, { members: [dora.id] });
  await sendTexts(owner, group, "secret pendant");
  await sendTexts(ben, withBen, "secret un", "secret deux", "secret trois");
  expect(await findTexts(dora, "secret", group)).toEqual([["secret pendant"]]);
  expect(await findTexts(cal, "secret", group)).toEqual([["secret pendant", "secret avant"]]);
  await call("DELETE", `/api/groups/${group}/members/${cal.id}`, { token: owner.token });
  await sendTexts(owner, group, "secret après");
  // A former member keeps the history.
  expect(await findTexts(cal, "secret", group)).toEqual([["secret pendant", "secret avant"]]);
  await request(cal, { type: "clearHistory", conversation: group, upTo: 100, keep: false });
  await vi.waitFor(async () => expect(await search(cal, "secret", [group])).toEqual([nothing]));

  await request(owner, { type: "clearHistory", conversation: withBen, upTo: 1, keep: true });
  await request(owner, { type: "setMessageFlags", conversation: withBen, seq: 2, deleted: true });
  expect(await findTexts(owner, "secret", withBen)).toEqual([["secret trois"]]);
  await request(ben, { type: "deleteForEveryone", conversation: withBen, seq: 3 });
  expect(await findTexts(owner, "secret", withBen)).toEqual([[]]);
});

test("messages are filtered by person, kind and time in each conversation, with and without a text", async () => {
  const [ana, ben, cal] = await makeFriends(3);
  if (!ben || !cal) throw new Error("too few people");
  const [withBen, withCal] = [privateConversationId(ana.id, ben.id), privateConversationId(ana.id, cal.id)];
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cal], group);
  await sendTexts(ana, withBen, "mot de Ana");
  await sendTexts(ben, withBen, "mot de Ben", "voir https://exemple.cd");
  await sendTexts(cal, withCal, "mot de Cal");
  await sendTexts(ben, group, "mot de Ben à tous");
  await sendTexts(cal, group, "mot de Cal à tous");
  const targets = [withBen, withCal, group];
  const find = async (query: string, filter: GlobalSearch["filter"]) =>
    (await search(ana, query, targets, filter)).map((result) => result && toTexts(result.messages));
  expect(await find("mot", { from: ben.id })).toEqual([["mot de Ben"], [], ["mot de Ben à tous"]]);
  expect(await find("", { from: ben.id, kind: "text" })).toEqual([
    ["voir https://exemple.cd", "mot de Ben"],
    [],
    ["mot de Ben à tous"],
  ]);
  expect(await find("", { from: ana.id })).toEqual([["mot de Ana"], [], []]);
  expect(await find("", { kind: "link" })).toEqual([["voir https://exemple.cd"], [], []]);
  expect(await find("mot", { kind: "image" })).toEqual([[], [], []]);
  expect(await find("", { from: (await seedPerson()).id })).toEqual([[], [], []]);
  const [first] = await search(ana, "Cal", [group]);
  const at = first?.messages[0]?.at ?? 0;
  expect((await find("mot", { after: at + 1 })).flat()).toEqual([]);
  expect((await find("mot", { after: at }))[2]?.[0]).toBe("mot de Cal à tous");
  expect((await find("mot", { before: at + 1 })).flat()).toHaveLength(5);
  // Former members are found too.
  await call("DELETE", `/api/groups/${group}/members/${ben.id}`, { token: ana.token });
  expect((await find("mot", { from: ben.id }))[2]).toEqual(["mot de Ben à tous"]);
});

test("a conversation of others gives the same answer as an unknown one, and neither is called nor looked up", async () => {
  const { ana, ben, id } = await makePair();
  const sam = await seedPerson();
  await sendTexts(ana, id, "secret");
  const searches = await spyOnSearch(id);
  const unknown = [privateConversationId(sam.id, createUuid()), createUuid(), privateConversationId(sam.id, ana.id)];
  let results: unknown;
  const { read } = await countDirectoryRows(async () => {
    results = await search(sam, "secret", [id, ...unknown]);
  });
  expect(results).toEqual(Array.from({ length: 4 }, () => nothing));
  expect(searches.count()).toBe(0);
  expect(read).toBeLessThanOrEqual(5);
  expect(await findTexts(ben, "secret", id)).toEqual([["secret"]]);
  expect(searches.count()).toBe(1);
});

test("a request of the wrong form is refused", async () => {
  const { ana, id } = await makePair();
  const target = { conversation: id };
  const many = Array.from({ length: searchedConversationsMax + 1 }, () => ({ conversation: createUuid() }));
  const bodies = [
    { query: "", targets: [target] },
    { query: "x".repeat(101), targets: [target] },
    { query: "mot", targets: [] },
    { query: "mot", targets: many },
    { query: "mot", targets: [target, { ...target, before: 3 }] },
    ...[0, -1, 1.5, "1", null, 2 ** 53].map((before) => ({ query: "mot", targets: [{ ...target, before }] })),
    { query: "mot", targets: [{ conversation: "nous" }] },
    { query: "mot", targets: [{ ...target, user: createUuid() }] },
    { query: "mot" },
    { query: "", filter: {}, targets: [target] },
    ...[{ from: 0 }, { from: "moi" }, { kind: "video" }, { after: -1 }, { before: "1" }, { user: createUuid() }].map(
      (filter) => ({ query: "mot", filter, targets: [target] }),
    ),
  ];
  for (const body of bodies) expect((await post(ana, body)).status, JSON.stringify(body)).toBe(400);
  expect((await post(ana, { query: "mot", targets: many.slice(1) })).status).toBe(200);
});

test("the slices of all conversations are charged to the person who searches, together with those of chat searches", async () => {
  const [ana, ben, ...others] = await makeFriends(6);
  if (!ben) throw new Error("too few people");
  const ids = [ben, ...others].map((other) => privateConversationId(ana.id, other.id));
  const [id = "", other = ""] = ids;
  for (const conversation of ids) await sendTexts(ana, conversation, "un");
  advanceClock(0);
  for (let i = 0; i < searchSliceBurst / ids.length - 1; i++) await search(ana, "deux", ids);
  await search(ana, "deux", ids.slice(0, 3));
  await request(ana, { type: "search", conversation: id, query: "deux", before: 9 });
  // One slice is left: the second conversation is returned as it was requested.
  expect(await search(ana, "un", [id, { conversation: other, before: 7 }])).toMatchObject([
    { messages: [{ seq: 1 }], before: null },
    { messages: [], before: 7 },
  ]);
  const refused = await post(ana, { query: "un", targets: [{ conversation: id }] });
  expect(refused.status).toBe(429);
  expect((await request(ana, { type: "search", conversation: id, query: "un", before: 9 })).error).toBe("rate_limited");
  expect(await findTexts(ben, "un", id)).toEqual([["un"]]);
  advanceClock((1_000 * searchSlicesMax) / searchSlicesPerSecond);
  expect(await findTexts(ana, "un", id, other)).toEqual([["un"], ["un"]]);
});

test("a conversation that does not answer hides no result of the others", async () => {
  const { ana, id } = await makePair();
  const other = await befriend(ana, await seedPerson());
  for (const conversation of [id, other]) await sendTexts(ana, conversation, "un");
  let calls = 0;
  const answer = { messages: [], before: null, bytes: 0, rows: 0, isLast: false };
  await spyOnSearch(id, async () => {
    if (calls++ === 0) throw new Error("spoiled");
    return answer;
  });
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await search(ana, "un", [id, other])).toEqual([null, nothing]);
  expect(errors).toHaveBeenCalledOnce();
});
