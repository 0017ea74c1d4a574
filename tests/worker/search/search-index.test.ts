import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Buffer } from "node:buffer";
import { describe, expect, test, vi } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { fanOutAlarmMs } from "#contract/limits/delivery.ts";
import {
  indexedSlicesPerAlarm,
  searchBlockMessages,
  searchResultsMax,
  searchRowsMax,
} from "#contract/limits/search.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { Person } from "#tests/support/people/people.ts";
import { request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { SearchIndex } from "#worker/objects/conversation/log/search-index.ts";
import { SearchIndexer } from "#worker/objects/conversation/search/search-indexer.ts";
import type { SearchSlice } from "#worker/objects/rpc/messages.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { searchBudget, waitUntilIndexed } from "./search-fixture.ts";

/** Search in a conversation with complete blocks, by the index (docs/decisions/search.md). */

const conversationStub = (id: ConversationId) => env.CONVERSATION.getByName(id);

/** Stores messages of Ana up to this seq, all with the word "ligne". */
const fill = async (id: ConversationId, from: number, to: number): Promise<void> => {
  await runInDurableObject(conversationStub(id), (_, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (seq, sender, cid, at, kind, body) SELECT i, 0, printf('00000000-0000-7000-8000-%012x', i), 1, 'text', 'ligne ' || i FROM n`,
      from,
      to,
    );
  });
  await evictDurableObject(conversationStub(id));
};

/** One slice of a search, without the limits of a person. */
const searchSlice = async (
  by: Person,
  conversation: ConversationId,
  query: string,
  before: number,
): Promise<SearchSlice | Refusal> =>
  getConversationStub(env, conversation).searchMessages(
    by.id,
    { type: "search", conversation, query, before },
    searchBudget,
  );

/** All that a member finds, without the limits of a person. */
const searchAll = async (by: Person, conversation: ConversationId, query: string): Promise<string[]> => {
  const texts: string[] = [];
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const found = await searchSlice(by, conversation, query, before);
    if (isRefusal(found)) throw new Error(found.error);
    texts.push(...toTexts(found.messages));
    before = found.before;
  }
  return texts;
};

/** Searches once, and waits for the index that this builds. */
const buildIndex = async (by: Person, conversation: ConversationId): Promise<void> => {
  await searchSlice(by, conversation, "rien", Number.MAX_SAFE_INTEGER);
  await waitUntilIndexed(conversation);
};

/** Everything that the tables of the index contain, as text. */
const readIndexBytes = (id: ConversationId): Promise<string> =>
  runInDurableObject(conversationStub(id), (_, { storage: { sql } }) =>
    ["search_index_data", "search_index_idx", "search_index_config", "search_blocks"]
      .flatMap((table) => sql.exec(`SELECT * FROM ${table}`).toArray())
      .flatMap((row) => Object.values(row))
      .map((value) => (value instanceof ArrayBuffer ? Buffer.from(value).toString("latin1") : String(value)))
      .join("\n"),
  );

const listBlocks = (id: ConversationId) =>
  runInDurableObject(conversationStub(id), (_, { storage: { sql } }) => {
    const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'search_blocks'").toArray().length > 0;
    return exists ? sql.exec("SELECT block, low FROM search_blocks ORDER BY block").toArray() : [];
  });

/** Rows of blocks that are indexed completely. */
const blocks = (...numbers: number[]) => numbers.map((block) => ({ block, low: block * searchBlockMessages + 1 }));

const readAlarm = (id: ConversationId): Promise<number | null> =>
  runInDurableObject(conversationStub(id), (_, { storage }) => storage.getAlarm());

const countIndexTables = (id: ConversationId): Promise<number> =>
  runInDurableObject(
    conversationStub(id),
    (_, { storage: { sql } }) =>
      sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'search_%' AND type = 'table'").toArray().length,
  );

/** A chat with the texts at its beginning, and two complete blocks and a half. */
const makeLongChat = async (...texts: string[]) => {
  const pair = await makePair();
  await sendTexts(pair.ana, pair.id, ...texts);
  const head = 2.5 * searchBlockMessages;
  await fill(pair.id, texts.length + 1, head);
  return { ...pair, head };
};

describe("the index", () => {
  test("is not created by sending, nor by searching a short chat", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "un", "deux");
    expect(await searchAll(ben, id, "deu")).toEqual(["deux"]);
    expect(await countIndexTables(id)).toBe(0);
  });

  test("finds the same as before it existed, from the newest down and each message once", async () => {
    const { ben, id, head } = await makeLongChat("Mɔsɔlɔ ezali te", "L'Été à Kinshasa");
    const queries: [string, string[]][] = [
      ["mosolo", ["Mɔsɔlɔ ezali te"]],
      ["KIN éte", ["L'Été à Kinshasa"]],
      ["kin mosolo", []],
      ["inshasa", []],
      [`ligne ${head - 1}`, [`ligne ${head - 1}`]],
      ["ligne 1999", ["ligne 1999"]],
    ];
    const lines = await searchAll(ben, id, "ligne");
    expect(lines).toEqual(Array.from({ length: head - 2 }, (_, i) => `ligne ${head - i}`));
    for (let round = 0; round < 2; round++) {
      for (const [query, texts] of queries) expect(await searchAll(ben, id, query)).toEqual(texts);
      await waitUntilIndexed(id);
    }
    expect(await searchAll(ben, id, "ligne")).toEqual(lines);
  });

  test("answers a search through complete blocks in one request, with what came since", async () => {
    const { ben, id, head } = await makeLongChat("aiguille");
    await buildIndex(ben, id);
    await sendTexts(ben, id, "aiguille deux");
    await evictDurableObject(conversationStub(id));
    const page = await request(ben, { type: "search", conversation: id, query: "aig", before: head + 2 });
    expect(page.messages.map(({ seq }) => seq)).toEqual([head + 1, 1]);
    expect(page.before).toBeNull();
  });

  test("indexes a block once it is complete and somebody searches", async () => {
    const { ana, ben, id, head } = await makeLongChat("aiguille");
    await buildIndex(ben, id);
    expect(await listBlocks(id)).toEqual(blocks(0, 1));
    await fill(id, head + 1, 3 * searchBlockMessages - 1);
    await buildIndex(ben, id);
    expect(await listBlocks(id)).toEqual(blocks(0, 1));
    await sendTexts(ana, id, "la dernière");
    await runDurableObjectAlarm(conversationStub(id));
    expect(await listBlocks(id)).toEqual(blocks(0, 1));
    expect(await searchAll(ben, id, "derniere")).toEqual(["la dernière"]);
    await waitUntilIndexed(id);
    expect(await searchAll(ben, id, "derniere")).toEqual(["la dernière"]);
    expect(await listBlocks(id)).toEqual(blocks(0, 1, 2));
  });

  test("is built after the first search, whatever it finds", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "aiguille");
    const blockCount = 2 * indexedSlicesPerAlarm + 1;
    await fill(id, 2, blockCount * searchBlockMessages + 5);
    const page = await request(ben, { type: "search", conversation: id, query: "ligne", before: 1e9 });
    expect(page.messages).toHaveLength(searchResultsMax);
    await waitUntilIndexed(id);
    expect(await listBlocks(id)).toEqual(blocks(...Array.from({ length: blockCount }, (_, block) => block)));
    await waitUntil(async () => (await readAlarm(id)) === null);
  });

  test("is waited for by a search that goes on below, which then uses it and returns", async () => {
    const { ben, id } = await makePair();
    const head = (2 * indexedSlicesPerAlarm + 1) * searchBlockMessages;
    await fill(id, 1, head);
    const search = (before: number) => searchSlice(ben, id, "aiguille", before);
    const first = await search(head + 1);
    if (isRefusal(first)) throw new Error(first.error);
    expect(first).toMatchObject({ before: head + 1 - searchBlockMessages, rows: searchBlockMessages, isLast: false });
    const wait = vi.spyOn(SearchIndexer.prototype, "waitForSlices");
    const addSlice = vi.spyOn(SearchIndex.prototype, "addSlice");
    const second = await search(searchBlockMessages + 1);
    expect(wait).toHaveBeenCalledOnce();
    expect(addSlice.mock.calls.length).toBeGreaterThan(0);
    expect(second).toMatchObject({ messages: [], before: null, isLast: true });
    await waitUntilIndexed(id);
    expect(await search(searchBlockMessages + 1)).toMatchObject({ before: null, rows: 0, isLast: false });
    expect(wait).toHaveBeenCalledOnce();
    vi.restoreAllMocks();
  });

  test("is continued by an instance that replaces the one which began", async () => {
    const { ben, id, head } = await makeLongChat("aiguille");
    await buildIndex(ben, id);
    await fill(id, head + 1, head + 2 * searchBlockMessages);
    await runInDurableObject(conversationStub(id), (_, { storage }) => storage.setAlarm(Date.now() + 1));
    await evictDurableObject(conversationStub(id));
    await waitUntilIndexed(id);
    expect(await listBlocks(id)).toEqual(blocks(0, 1, 2, 3));
  });

  test("is not built by a request of a stranger, nor in a full conversation", async () => {
    const { ben, id } = await makeLongChat("aiguille");
    const stranger = await seedPerson();
    const command = { type: "search", conversation: id, query: "ligne", before: 9 } as const;
    await getConversationStub(env, id).searchMessages(stranger.id, command, searchBudget);
    await runDurableObjectAlarm(conversationStub(id));
    expect(await countIndexTables(id)).toBe(0);
    await runInDurableObject(conversationStub(id), () => {
      vi.spyOn(ConversationLog.prototype, "isFull", "get").mockReturnValue(true);
    });
    expect(await searchAll(ben, id, "aiguille")).toEqual(["aiguille"]);
    await runDurableObjectAlarm(conversationStub(id));
    expect(await countIndexTables(id)).toBe(0);
    vi.restoreAllMocks();
  });

  test("leaves a search through messages that are not indexed within its rows, and it continues", async () => {
    const { ben, id, head } = await makeLongChat("aiguille");
    await runInDurableObject(conversationStub(id), () => {
      vi.spyOn(ConversationLog.prototype, "isFull", "get").mockReturnValue(true);
    });
    const search = (before: number) => request(ben, { type: "search", conversation: id, query: "aiguille", before });
    const first = await search(head + 1);
    expect(first).toEqual({ messages: [], before: head + 1 - searchRowsMax });
    const second = await search(first.before ?? 0);
    expect([toTexts(second.messages), second.before]).toEqual([["aiguille"], null]);
    vi.restoreAllMocks();
  });
});

describe("what nobody may find", () => {
  test("a deleted message leaves no word in the index", async () => {
    const { ana, ben, id } = await makeLongChat("zqxsecret deuxième", "le reste");
    await buildIndex(ben, id);
    expect(await searchAll(ben, id, "zqx")).toEqual(["zqxsecret deuxième"]);
    expect(await readIndexBytes(id)).toContain("qxsecret");
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    expect(await readIndexBytes(id)).not.toContain("qxsecret");
    for (const query of ["zqx", "deuxieme"]) expect(await searchAll(ben, id, query)).toEqual([]);
    expect(await searchAll(ben, id, "reste")).toEqual(["le reste"]);
  });

  test("an edited message is found by its new words only", async () => {
    const { ana, ben, id } = await makeLongChat("zqxavant", "le reste");
    await buildIndex(ben, id);
    await request(ana, { type: "editMessage", conversation: id, target: 1, edit: 0, text: "après" });
    expect(await readIndexBytes(id)).not.toContain("qxavant");
    expect(await searchAll(ben, id, "zqx")).toEqual([]);
    expect(await searchAll(ben, id, "apres")).toEqual(["après"]);
  });

  test("words of an edit by a blocked person are found by that person only", async () => {
    const { ana, ben, id } = await makeLongChat("premier texte");
    await buildIndex(ben, id);
    await getConversationStub(env, id).setBlocked(ben.id, true);
    await request(ana, { type: "editMessage", conversation: id, target: 1, edit: 0, text: "second texte" });
    expect([await searchAll(ana, id, "second"), await searchAll(ana, id, "premier")]).toEqual([["second texte"], []]);
    expect([await searchAll(ben, id, "second"), await searchAll(ben, id, "premier")]).toEqual([[], ["premier texte"]]);
  });

  test("undelivered words of a deleted account leave the index, and the index ends with the last reader", async () => {
    const { ana, ben, id } = await makeLongChat("zqxsecret");
    await runInDurableObject(conversationStub(id), (_, { storage }) => {
      storage.sql.exec("UPDATE messages SET withheld = 1 WHERE seq = 1");
    });
    await evictDurableObject(conversationStub(id));
    await buildIndex(ben, id);
    expect([await searchAll(ana, id, "zqx"), await searchAll(ben, id, "zqx")]).toEqual([["zqxsecret"], []]);
    expect(await readIndexBytes(id)).toContain("qxsecret");
    await getConversationStub(env, id).removeDeletedUser(ana.id);
    expect(await readIndexBytes(id)).not.toContain("qxsecret");
    await getConversationStub(env, id).removeDeletedUser(ben.id);
    await runDurableObjectAlarm(conversationStub(id));
    expect(await countIndexTables(id)).toBe(0);
  });

  test("a cleared history is found by the other person only", async () => {
    const { ana, ben, id } = await makeLongChat("aiguille", "aiguille deux");
    await buildIndex(ana, id);
    await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: true });
    expect(await searchAll(ben, id, "aiguille")).toEqual(["aiguille deux"]);
    expect(await searchAll(ana, id, "aiguille")).toEqual(["aiguille deux", "aiguille"]);
  });
});

test("an index that cannot be written stays as it was, and a later search builds it", async () => {
  const { ben, id, head } = await makeLongChat("aiguille");
  await buildIndex(ben, id);
  await fill(id, head + 1, head + searchBlockMessages);
  const runSql = (sql: string) =>
    runInDurableObject(conversationStub(id), (_, { storage }) => storage.sql.exec(sql).toArray());
  await runSql(
    "CREATE TRIGGER spoil BEFORE INSERT ON search_blocks WHEN NEW.block = 2 BEGIN SELECT RAISE(ABORT, 'spoiled'); END",
  );
  expect(await searchAll(ben, id, "ligne 2999")).toEqual(["ligne 2999"]);
  await waitUntil(async () => ((await readAlarm(id)) ?? 0) > Date.now() + fanOutAlarmMs / 2);
  expect(await runSql("SELECT rowid FROM search_index WHERE search_index MATCH '2999'")).toEqual([]);
  await runSql("DROP TRIGGER spoil");
  for (let round = 0; round < 2; round++) {
    expect(await searchAll(ben, id, "ligne 2999")).toEqual(["ligne 2999"]);
    await waitUntilIndexed(id);
  }
});
