import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { searchBlockMessages } from "#contract/limits/search.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import type { Person } from "#tests/support/people/people.ts";
import { request, sendTexts } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { makeDocumentBody, makeImageBody, makeVoiceBody } from "#tests/worker/support/seeded-files.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { toBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { searchBudget, waitUntilIndexed } from "./search-fixture.ts";

/** Filters of a search, in messages that are read and in those of the index (docs/decisions/search.md). */

const conversationStub = (id: ConversationId) => env.CONVERSATION.getByName(id);
const head = 2.5 * searchBlockMessages;
const secondMs = 1_000;

const missedCall: StoredBody = { type: "call", id: createUuid(), kind: "audio", status: "missed", seconds: 0 };

/** Messages of a long chat besides its texts: two of each kind, one of them below an indexed block's end. */
const placed: Record<number, StoredBody> = {
  10: makeImageBody(createUuid(), "un zèbre"),
  20: makeVoiceBody(createUuid()),
  30: makeDocumentBody(createUuid(), "zebre.pdf"),
  40: { type: "text", text: "le zèbre : www.exemple.cd" },
  50: missedCall,
  60: { type: "event", event: "left" },
  70: { type: "deleted" },
  1500: makeImageBody(createUuid(), "voir https://exemple.cd"),
  2010: makeImageBody(createUuid()),
  2020: makeVoiceBody(createUuid()),
};
const ofBen = [20, 40, 2_020, 2_400];

/** A chat with `placed` among texts of Ana and a few of Ben; message i was sent at second i. */
const makeChat = async () => {
  const pair = await makePair();
  const [first, second] = [pair.ana, pair.ben].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (!first || !second) throw new Error("no pair");
  await runInDurableObject(conversationStub(pair.id), (_, { storage: { sql } }) => {
    sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (seq, sender, cid, at, kind, body)
       SELECT i, i IN (${ofBen.join()}), printf('00000000-0000-7000-8000-%012x', i), i * ${secondMs}, 'text', 'ligne ' || i FROM n`,
      head,
    );
    for (const [seq, stored] of Object.entries(placed)) {
      const { kind, body } = toBodyColumns(stored);
      sql.exec("UPDATE messages SET kind = ?, body = ? WHERE seq = ?", kind, body, Number(seq));
    }
  });
  await evictDurableObject(conversationStub(pair.id));
  return { id: pair.id, zero: first, one: second };
};

/** Seqs of all that a member finds, newest first, without the limits of a person. */
const findAll = async (by: Person, conversation: ConversationId, query: string, filter?: SearchFilter) => {
  const seqs: number[] = [];
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const command = { type: "search", conversation, query, before, ...(filter ? { filter } : {}) } as const;
    const found = await getConversationStub(env, conversation).searchMessages(by.id, command, searchBudget);
    if (isRefusal(found)) throw new Error(found.error);
    seqs.push(...found.messages.map(({ seq }) => seq));
    before = found.before;
  }
  return seqs;
};

/** Searches once, and waits for the index that this builds. */
const buildIndex = async (by: Person, conversation: ConversationId): Promise<void> => {
  expect(await findAll(by, conversation, "", { kind: "link" })).toEqual([1_500, 40]);
  await waitUntilIndexed(conversation);
};

const texts = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => to - i).filter((seq) => !placed[seq] || placed[seq].type === "text");

test("filters find the same in read and in indexed messages, newest first and each once", async () => {
  const { id, zero } = await makeChat();
  const cases: [string, SearchFilter, number[]][] = [
    ["", { kind: "image" }, [2_010, 1_500, 10]],
    ["", { kind: "voice" }, [2_020, 20]],
    ["", { kind: "file" }, [30]],
    ["", { kind: "link" }, [1_500, 40]],
    ["", { kind: "call" }, [50]],
    ["", { from: 1 }, ofBen.toReversed()],
    ["", { from: 7 }, []],
    ["", { from: 1, kind: "voice" }, [2_020, 20]],
    ["", { from: 1, kind: "image" }, []],
    ["", { kind: "image", after: 1_500 * secondMs }, [2_010, 1_500]],
    ["", { kind: "image", before: 1_500 * secondMs }, [10]],
    ["", { after: 2_005 * secondMs, before: 2_011 * secondMs }, [2_010, ...texts(2_005, 2_009)]],
    ["", { after: 55 * secondMs, before: 75 * secondMs }, texts(55, 74)],
    ["", { after: (head + 1) * secondMs }, []],
    ["", { before: secondMs }, []],
    ["", { after: 5 * secondMs, before: 5 * secondMs }, []],
    ["zebre", { from: 0 }, [30, 10]],
    ["zeb", { kind: "text" }, [40]],
    ["zebre", { kind: "link", from: 1 }, [40]],
    ["ligne 24", { from: 1 }, [2_400]],
    ["ligne", { after: 998 * secondMs, before: 1_003 * secondMs }, texts(998, 1_002)],
    ["zebre", { before: 30 * secondMs }, [10]],
    // Not words of the index that a person can write.
    ["¤kimage", { from: 0 }, []],
    ["kimage", { from: 0 }, []],
    ["?!", { kind: "image" }, []],
  ];
  for (let round = 0; round < 2; round++) {
    for (const [query, filter, seqs] of cases)
      expect(await findAll(zero, id, query, filter), JSON.stringify([round, query, filter])).toEqual(seqs);
    await waitUntilIndexed(id);
  }
  const allTexts = await findAll(zero, id, "", { kind: "text" });
  expect(allTexts).toEqual(texts(1, head));
});

describe("what a filter may not find", () => {
  test("a deleted message, and a link that an edit removed", async () => {
    const { id, zero, one } = await makeChat();
    await buildIndex(one, id);
    await request(zero, { type: "deleteForEveryone", conversation: id, seq: 1_500 });
    await runInDurableObject(conversationStub(id), (_, { storage: { sql } }) => {
      sql.exec("UPDATE messages SET at = ? WHERE seq = 40", Date.now()); // still editable
    });
    await request(one, { type: "editMessage", conversation: id, target: 40, edit: 0, text: "sans adresse" });
    expect(await findAll(one, id, "", { kind: "link" })).toEqual([]);
    expect(await findAll(one, id, "", { kind: "image" })).toEqual([2_010, 10]);
    expect(await findAll(one, id, "adresse", { kind: "text" })).toEqual([40]);
    await request(one, { type: "editMessage", conversation: id, target: 40, edit: 1, text: "http://exemple.cd/a" });
    expect(await findAll(one, id, "", { kind: "link" })).toEqual([40]);
  });

  test("a cleared history, a message deleted for oneself, and undelivered ones of the other", async () => {
    const { id, zero, one } = await makeChat();
    await buildIndex(zero, id);
    await runInDurableObject(conversationStub(id), (_, { storage: { sql } }) => {
      sql.exec("UPDATE messages SET withheld = 1 WHERE seq = 2020");
    });
    await evictDurableObject(conversationStub(id));
    expect(await findAll(zero, id, "", { kind: "voice" })).toEqual([20]);
    expect(await findAll(zero, id, "", { from: 1 })).toEqual([2_400, 40, 20]);
    expect(await findAll(one, id, "", { kind: "voice" })).toEqual([2_020, 20]);
    await request(one, { type: "clearHistory", conversation: id, upTo: 20, keep: true });
    expect(await findAll(one, id, "", { kind: "voice" })).toEqual([2_020]);
    expect(await findAll(one, id, "", { kind: "image", after: 0 })).toEqual([2_010, 1_500]);
    await request(zero, { type: "setMessageFlags", conversation: id, seq: 1_500, deleted: true });
    const page = await request(zero, {
      type: "search",
      conversation: id,
      query: "",
      before: head,
      filter: { kind: "image" },
    });
    expect(page.messages.map(({ seq }) => seq)).toEqual([2_010, 10]);
  });

  test("a link that a blocked person added to a message", async () => {
    const { id, zero, one } = await makeChat();
    const { sent } = await sendTexts(zero, id, "mon adresse");
    const target = sent[0]?.seq ?? 0;
    await getConversationStub(env, id).setBlocked(one.id, true);
    await request(zero, { type: "editMessage", conversation: id, target, edit: 0, text: "www.exemple.cd" });
    expect(await findAll(zero, id, "", { kind: "link" })).toEqual([target, 1_500, 40]);
    expect(await findAll(one, id, "", { kind: "link" })).toEqual([1_500, 40]);
  });

  test("messages of a group from outside of a membership; those of a former member stay", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    const [ben, cleo] = others;
    if (!ben || !cleo) throw new Error("too few");
    const dan = await seedPerson();
    await befriend(owner, dan);
    const sendLink = async (by: Person, text: string) => (await sendTexts(by, id, text)).sent[0]?.seq ?? 0;
    const membersPath = `/api/groups/${id}/members`;
    const before = await sendLink(ben, "www.avant.cd");
    await requestAs(owner, "DELETE", `${membersPath}/${cleo.id}`);
    const meanwhile = await sendLink(ben, "www.pendant.cd");
    await requestAs(owner, "POST", membersPath, { members: [cleo.id, dan.id] });
    const after = await sendLink(ben, "www.apres.cd");
    const links = { kind: "link" } as const;
    expect(await findAll(owner, id, "", links)).toEqual([after, meanwhile, before]);
    expect(await findAll(cleo, id, "", links)).toEqual([after, before]);
    expect(await findAll(dan, id, "", links)).toEqual([after]);
    expect(await findAll(dan, id, "", { from: 1 })).toEqual([after]);
    await requestAs(owner, "DELETE", `${membersPath}/${ben.id}`);
    const later = await sendLink(owner, "www.plus-tard.cd");
    expect(await findAll(owner, id, "", { from: 1, kind: "link" })).toEqual([after, meanwhile, before]);
    expect(await findAll(owner, id, "", links)).toEqual([later, after, meanwhile, before]);
    expect(await findAll(ben, id, "", links)).toEqual([after, meanwhile, before]);
    const refused = { type: "search", conversation: id, query: "", before: 9, filter: links } as const;
    expect(await request(await seedPerson(), refused)).toEqual({ error: "conversation_not_found" });
  });
});

test.each<[string, object]>([
  ["neither a text nor a filter", { query: "" }],
  ["an empty filter without a text", { query: "", filter: {} }],
  ["an unknown kind", { query: "", filter: { kind: "event" } }],
  ["a negative member", { query: "", filter: { from: -1 } }],
  ["a time that is no number", { query: "", filter: { after: "1" } }],
  ["an unknown condition", { query: "a", filter: { mine: true } }],
])("a search with %s is invalid", async (_, body) => {
  const { ana, id } = await makePair();
  const answer = await call("POST", `/api/conversations/${id}/search`, { token: ana.token, body });
  expect(answer).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
});
