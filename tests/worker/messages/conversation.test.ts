import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { gapPageRows, pageMaxBytes } from "#contract/limits/conversations.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { searchRowsMax, searchSliceLength, searchSlicesMax } from "#contract/limits/search.ts";
import { connectPeople } from "#tests/support/people/people.ts";
import {
  Device,
  makeText,
  readLog,
  readRow,
  request,
  sendTexts,
  toTexts,
  waitUntil,
} from "#tests/worker/support/device.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, site } from "#tests/worker/support/site.ts";
import { openDb } from "#worker/db/client.ts";
import { connections } from "#worker/db/relation-schema.ts";

const conversationStub = (id: string) => env.CONVERSATION.getByName(id);

test("a text reaches the other person's device, and both agree on its position", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const outcome = await phoneA.waitForOutcome(phoneA.sendText(id, "Mbote na yo"));
  const live = await phoneB.nextLive();
  expect(outcome).toMatchObject({ seq: 1 });
  expect({ seq: live.seq, at: live.at + phoneB.now }).toEqual(outcome);
  expect(live.text).toBe("Mbote na yo");
  expect(toTexts(await readLog(ben, id))).toEqual(["Mbote na yo"]);
});

test("a message sent again keeps its first position and body, over either transport", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await Device.open(ana);
  const cid = createUuid();
  const first = await phone.waitForOutcome(phone.sendText(id, "premier", cid));
  const again = await phone.waitForOutcome(phone.sendText(id, "changé", cid));
  const byHttp = await request(ana, { type: "send", conversation: id, messages: [makeText("encore", cid)] });
  expect(again).toEqual(first);
  expect(byHttp.sent).toEqual([{ cid, ...first }]);
  expect(toTexts(await readLog(ben, id))).toEqual(["premier"]);
  // The same client id from the other person is a different message.
  await request(ben, { type: "send", conversation: id, messages: [makeText("le mien", cid)] });
  expect(toTexts(await readLog(ben, id))).toEqual(["premier", "le mien"]);
});

test("fifty simultaneous messages of both sides get positions without gaps, in each sender's order", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const refs = Array.from(
    { length: 50 },
    (_, i) => [phoneA.sendText(id, `a${i}`), phoneB.sendText(id, `b${i}`)] as const,
  );
  for (const [refA, refB] of refs) {
    expect(await phoneA.waitForOutcome(refA)).toHaveProperty("seq");
    expect(await phoneB.waitForOutcome(refB)).toHaveProperty("seq");
  }
  const log = await readLog(ana, id);
  expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  for (const side of ["a", "b"]) {
    const own = toTexts(log).filter((one) => one.startsWith(side));
    expect(own).toEqual(Array.from({ length: 50 }, (_, i) => `${side}${i}`));
  }
  expect(log.every(({ at }, i) => at >= (log[i - 1]?.at ?? 0))).toBe(true);
  await waitUntil(() => new Set(phoneA.seqs).size === 100 && new Set(phoneB.seqs).size === 100);
  expect(phoneA.seqs).toHaveLength(100);
  expect(phoneB.seqs).toHaveLength(100);
  expect((await readLog(ben, id)).map(({ seq, body }) => [seq, body])).toEqual(log.map(({ seq, body }) => [seq, body]));
});

test("the client id of a message is visible to its author only", async () => {
  const { ana, ben, id } = await makePair();
  const phoneB = await Device.open(ben);
  await sendTexts(ana, id, "un", "deux");
  const [pushed] = phoneB.decodeMessages(await phoneB.nextOf("m"));
  expect(pushed).not.toHaveProperty("cid");
  expect((await readLog(ana, id))[0]).toHaveProperty("cid");
  expect((await readLog(ben, id))[0]).not.toHaveProperty("cid");
});

test("late, duplicate or too high receipts never go back and never exceed the log", async () => {
  const { ana, ben, id } = await makePair();
  const phoneA = await Device.open(ana);
  await sendTexts(ana, id, "1", "2", "3", "4", "5");
  const mark = (delivered: number, read: number) => request(ben, { type: "mark", conversation: id, delivered, read });
  expect(await mark(4, 3)).toEqual({ unread: 2, head: 5 });
  expect(await mark(2, 1)).toEqual({ unread: 2, head: 5 });
  expect(await mark(4, 3)).toEqual({ unread: 2, head: 5 });
  expect(await readRow(ben, id)).toMatchObject({ delivered: 4, read: 3, unread: 2 });
  expect(await mark(1_000_000, 1_000_000)).toEqual({ unread: 0, head: 5 });
  expect(await readRow(ben, id)).toMatchObject({ delivered: 5, read: 5, unread: 0 });
  await waitUntil(() => phoneA.frames.some((frame) => Array.isArray(frame) && frame[0] === "o" && frame[4] === 5));
  const seen = phoneA.frames.flatMap((frame) =>
    Array.isArray(frame) && frame[0] === "o" ? [[frame[3], frame[4]]] : [],
  );
  expect(seen).toEqual([...seen].sort(([a = 0], [b = 0]) => a - b));
  expect(await readRow(ana, id)).toMatchObject({ othersDelivered: 5, othersRead: 5 });
});

test("a removed contact cannot write, keeps the history, and can write again once reconnected", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const cid = createUuid();
  const outcome = await phoneA.waitForOutcome(phoneA.sendText(id, "avant", cid));
  expect((await call("DELETE", `/api/contacts/${ana.id}`, { token: ben.token })).status).toBeLessThan(300);
  await waitUntil(async () => !(await readRow(ana, id)).open && !(await readRow(ben, id)).open);
  expect(await phoneA.waitForOutcome(phoneA.sendText(id, "après"))).toEqual({ error: "not_connected" });
  expect(await sendTexts(ben, id, "après")).toEqual({ error: "not_connected" });
  // A message stored before the end is acknowledged as stored, because its sender may have missed the acknowledgement.
  expect(await phoneA.waitForOutcome(phoneA.sendText(id, "avant", cid))).toEqual(outcome);
  expect(toTexts(await readLog(ana, id))).toEqual(["avant"]);
  expect(toTexts(await readLog(ben, id))).toEqual(["avant"]);
  await connectPeople(site, ana, ben);
  expect(await phoneB.waitForOutcome(phoneB.sendText(id, "de nouveau"))).toMatchObject({ seq: 2 });
});

test("a closed connection does not reopen the conversation by a late notice", async () => {
  const { ana, id } = await makePair();
  const stub = conversationStub(id);
  const [first, second] = [createUuid(), createUuid()];
  await stub.openConnection(first);
  await stub.closeConnection(first);
  await stub.openConnection(second);
  await stub.closeConnection(second);
  await stub.openConnection(first);
  await runInDurableObject(stub, (_, state) => {
    const rows = state.storage.sql.exec("SELECT connection FROM conversation").toArray();
    expect(rows).toEqual([{ connection: null }]);
  });
  await waitUntil(async () => !(await readRow(ana, id)).open);
});

test("a conversation without a notice of the connection asks the directory once and opens", async () => {
  const { ana, id } = await makePair();
  await runInDurableObject(conversationStub(id), async (_, state) => {
    state.storage.sql.exec("UPDATE conversation SET connection = NULL");
  });
  await evictDurableObject(conversationStub(id));
  expect((await sendTexts(ana, id, "ça part")).sent).toMatchObject([{ seq: 1 }]);
});

/** Two people who are connected in the directory, and whose conversation and channels were never notified. */
const makeUnnotifiedPair = async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  return { ana, ben, id: privateConversationId(ana.id, ben.id) };
};
const insertConnection = ({ ana, ben, id }: Awaited<ReturnType<typeof makeUnnotifiedPair>>) =>
  openDb(env)
    .insert(connections)
    .values({ id: createUuid(), user1_id: ana.id, user2_id: ben.id, conversation_id: id, created_at: Date.now() });

test("commands that arrive while the directory is asked for a connection all wait for its answer", async () => {
  const pair = await makeUnnotifiedPair();
  await insertConnection(pair);
  const { ana, id } = pair;
  const sent = await Promise.all([sendTexts(ana, id, "un"), sendTexts(ana, id, "deux"), readLog(ana, id)]);
  expect(sent.slice(0, 2)).toMatchObject([{ sent: [{}] }, { sent: [{}] }]);
});

test("a text sent right after the acceptance goes out, also if the chat was asked for before", async () => {
  const pair = await makeUnnotifiedPair();
  const { ana, id } = pair;
  const page = { type: "page", conversation: id, direction: "after", seq: 0, limit: 1 } as const;
  expect(await request(ana, page)).toEqual({ error: "conversation_not_found" });
  await insertConnection(pair);
  expect((await sendTexts(ana, id, "enfin")).sent).toMatchObject([{ seq: 1 }]);
});

test("a message deleted from a person's view is missing there in pages and search, and for nobody else", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "secret un", "secret deux");
  expect(await request(ben, { type: "clearHistory", conversation: id, upTo: 2, keep: false })).toMatchObject({
    hidden: 2,
  });
  expect(await readRow(ben, id)).toMatchObject({ hidden: 2, preview: null, unread: 0 });
  await sendTexts(ana, id, "secret trois");
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, preview: { type: "text", text: "secret trois" } });
  expect(toTexts(await readLog(ben, id))).toEqual(["secret trois"]);
  for (const seq of [2, 3, 4]) {
    const page = await request(ben, { type: "page", conversation: id, direction: "before", seq, limit: 10 });
    expect(toTexts(page.messages)).toEqual(seq === 4 ? ["secret trois"] : []);
    expect(page.more).toBe(false);
  }
  const found = await request(ben, { type: "search", conversation: id, query: "secret", before: 100 });
  expect(toTexts(found.messages)).toEqual(["secret trois"]);
  expect(toTexts(await readLog(ana, id))).toEqual(["secret un", "secret deux", "secret trois"]);
});

test("a hidden conversation is listed again only with a new message", async () => {
  const { ana, ben, id } = await makePair();
  const listed = async () =>
    ((await call("GET", "/api/conversations", { token: ben.token })).body as { rows: unknown[] }).rows.length;
  expect(await listed()).toBe(0);
  await sendTexts(ana, id, "un");
  await waitUntil(async () => (await listed()) === 1);
  await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: false });
  expect(await listed()).toBe(0);
  await sendTexts(ana, id, "deux");
  await waitUntil(async () => (await listed()) === 1);
});

test("pages go in both directions by position, with a maximum count and size", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, ...Array.from({ length: 45 }, (_, i) => `m${i + 1}`));
  const page = (direction: "after" | "before", seq: number, limit: number) =>
    request(ben, { type: "page", conversation: id, direction, seq, limit });
  const newest = await page("before", 46, 10);
  expect(newest.messages.map(({ seq }) => seq)).toEqual([45, 44, 43, 42, 41, 40, 39, 38, 37, 36]);
  expect(newest).toMatchObject({ head: 45, more: true });
  const oldest = await page("before", 6, 10);
  expect(oldest.messages.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1]);
  expect(oldest.more).toBe(false);
  const after = await page("after", 40, 5);
  expect(after.messages.map(({ seq }) => seq)).toEqual([41, 42, 43, 44, 45]);
  expect(after.more).toBe(false);
  expect((await page("after", 45, 5)).messages).toEqual([]);
  const heavy = "é".repeat(messageTextMaxLength);
  await sendTexts(ana, id, ...Array.from({ length: 15 }, () => heavy));
  const bytes = await page("after", 45, gapPageRows);
  expect(new TextEncoder().encode(JSON.stringify(bytes.messages)).length).toBeLessThanOrEqual(pageMaxBytes);
  expect(bytes.messages.length).toBeGreaterThan(1);
  expect(bytes.more).toBe(true);
});

test("a search ignores case and accents, over the whole history and in bounded steps", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "L'Été à Kinshasa", "rien");
  const count = 3 * searchRowsMax;
  await runInDurableObject(conversationStub(id), (_, state) => {
    state.storage.sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (seq, sender, cid, at, kind, body) SELECT i, 0, printf('00000000-0000-7000-8000-%012x', i), 1, 'text', 'ligne ' || i FROM n`,
      count,
    );
  });
  await evictDurableObject(conversationStub(id));
  const search = (query: string, before: number) => request(ben, { type: "search", conversation: id, query, before });
  const first = await search("ETE A KIN", count + 1);
  expect(first).toEqual({ messages: [], before: count + 1 - searchRowsMax });
  const found: string[] = [];
  for (let before: number | null = first.before; before !== null; ) {
    const page = await search("KIN ETE", before);
    expect(page.before ?? 0).toBeLessThan(before);
    found.push(...toTexts(page.messages));
    before = page.before;
  }
  expect(found).toEqual(["L'Été à Kinshasa"]);
  expect((await search("inshasa", searchRowsMax)).messages).toEqual([]);
  const many = await search("ligne", count + 1);
  expect(many.messages).toHaveLength(40);
  expect(many.before).toBe(count + 1 - 40);
});

test("a search through long texts stops after a limit and continues from there, so that it delays nobody", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "le mot");
  const long = "é".repeat(messageTextMaxLength);
  const atOnce = searchSlicesMax * Math.ceil(searchSliceLength / messageTextMaxLength);
  const count = 2 * atOnce;
  await runInDurableObject(conversationStub(id), (_, state) => {
    state.storage.sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (seq, sender, cid, at, kind, body) SELECT i, 0, printf('00000000-0000-7000-8000-%012x', i), 1, 'text', ? FROM n`,
      count,
      long,
    );
  });
  await evictDurableObject(conversationStub(id));
  const search = (before: number) => request(ben, { type: "search", conversation: id, query: "mot", before });
  const first = await search(count + 1);
  expect(first).toEqual({ messages: [], before: count + 1 - atOnce });
  const second = await search(first.before ?? 0);
  expect(toTexts(second.messages)).toEqual(["le mot"]);
  expect(second.before).toBeNull();
});

test("a write that fails half-way stores nothing, and the messages are accepted when they are sent again", async () => {
  const { ana, ben, id } = await makePair();
  const trigger = (sql: string) =>
    runInDurableObject(conversationStub(id), (_, state) => void state.storage.sql.exec(sql));
  await trigger(
    "CREATE TRIGGER spoil BEFORE INSERT ON messages WHEN NEW.body = 'boum' BEGIN SELECT RAISE(ABORT, 'spoiled'); END",
  );
  const messages = ["un", "boum", "trois"].map((one) => makeText(one));
  const spoiled = await request(ana, { type: "send", conversation: id, messages });
  expect(spoiled).toEqual({ error: "unavailable" });
  expect(await readLog(ben, id)).toEqual([]);
  // Another person's message at the same moment is not affected.
  const [, other] = await Promise.all([
    request(ana, { type: "send", conversation: id, messages }),
    sendTexts(ben, id, "le mien"),
  ]);
  expect(other.sent).toMatchObject([{ seq: 1 }]);
  await trigger("DROP TRIGGER spoil");
  const again = await request(ana, { type: "send", conversation: id, messages });
  expect(again.sent.map(({ seq }) => seq)).toEqual([2, 3, 4]);
});

test("the time of a message never decreases, even when the clock does", async () => {
  const { ana, id } = await makePair();
  await sendTexts(ana, id, "un");
  const ahead = Date.now() + 60_000;
  await runInDurableObject(
    conversationStub(id),
    (_, state) => void state.storage.sql.exec("UPDATE messages SET at = ?", ahead),
  );
  await evictDurableObject(conversationStub(id));
  expect((await sendTexts(ana, id, "deux")).sent).toMatchObject([{ seq: 2, at: ahead }]);
});
