import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";

type Tables = { name: string; rows: Record<string, SqlStorageValue>[] }[];
type Stub = DurableObjectStub;

/** Content of an object's tables. */
const copyOf = (stub: Stub): Promise<Tables> =>
  runInDurableObject(stub, (_, { storage: { sql } }) =>
    sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
      )
      .toArray()
      .map(({ name }) => ({ name, rows: sql.exec(`SELECT * FROM ${name}`).toArray() })),
  );

/** Evicts the object and replaces its tables by an earlier copy. */
const restore = async (stub: Stub, tables: Tables): Promise<void> => {
  await runInDurableObject(stub, (_, { storage }) =>
    storage.transactionSync(() => {
      for (const { name, rows } of tables) {
        storage.sql.exec(`DELETE FROM ${name}`);
        for (const row of rows) {
          const columns = Object.keys(row);
          const places = columns.map(() => "?").join();
          storage.sql.exec(`INSERT INTO ${name} (${columns.join()}) VALUES (${places})`, ...Object.values(row));
        }
      }
    }),
  );
  await evictDurableObject(stub);
};

const makePairWithObjects = async () => {
  const pair = await makePair();
  const channel = env.USER_CHANNEL.getByName(pair.ana.id);
  const conversation = env.CONVERSATION.getByName(pair.id);
  await sendTexts(pair.ben, pair.id, "un", "deux");
  await waitUntil(async () => (await readRow(pair.ana, pair.id)).head === 2);
  return { ...pair, channel, conversation };
};

test("a device ahead of a restored channel receives everything, another one only new changes", async () => {
  const { ana, ben, id, channel } = await makePairWithObjects();
  const phone = await Device.open(ana);
  const { epoch } = phone;
  const known = phone.base;
  const copy = await copyOf(channel);
  await sendTexts(ben, id, "trois");
  await waitUntil(() => phone.counters.length > 0);
  const highestCounter = Math.max(...phone.counters);
  phone.close();
  await waitUntil(async () => (await request(ana, { type: "changes", since: highestCounter })).rows.length === 0);
  await restore(channel, copy);
  const ahead = await Device.attach(ana);
  const all = await ahead.hello(epoch, highestCounter);
  expect(all.at(-2)).toBe(0); // the cursor that the answer begins at
  expect(ahead.decodeRows(all).map(({ conversation }) => conversation)).toContain(id);
  const level = await Device.attach(ana);
  expect((await level.hello(epoch, known)).at(-2)).toBe(known);
  // Also after further restarts.
  for (let life = 0; life < 2; life++) {
    ahead.close();
    level.close();
    await evictDurableObject(channel);
    expect(await request(ana, { type: "changes", since: highestCounter })).toMatchObject({ epoch, since: 0 });
    expect(await request(ana, { type: "changes", since: known })).toMatchObject({ epoch, since: known });
  }
});

test("a restart without a loss pushes nothing twice to a device", async () => {
  const { ana, ben, id, channel } = await makePairWithObjects();
  const phone = await Device.open(ana);
  await sendTexts(ben, id, "trois");
  await waitUntil(() => phone.counters.length > 0);
  phone.close();
  const { counter } = await request(ana, { type: "changes", since: 0 });
  for (let life = 0; life < 3; life++) {
    await evictDurableObject(channel);
    expect(await request(ana, { type: "changes", since: counter })).toMatchObject({
      since: counter,
      rows: [],
      people: [],
    });
  }
});

test("a log restored from an earlier copy than its author's channel knows has another epoch, and all are notified of it", async () => {
  const { ana, ben, id, conversation } = await makePairWithObjects();
  const copy = await copyOf(conversation);
  await sendTexts(ana, id, "perdu", "perdu aussi");
  await waitUntil(async () => (await readRow(ben, id)).head === 4);
  const before = await readRow(ben, id);
  await restore(conversation, copy);
  await sendTexts(ana, id, "trois");
  await waitUntil(async () => {
    const { epoch, head } = await readRow(ben, id);
    return epoch !== before.epoch && head === 3;
  });
  expect(await readRow(ben, id)).toMatchObject({ head: 3, preview: { type: "text", text: "trois" }, unread: 1 });
  await waitUntil(async () => (await readRow(ana, id)).head === 3);
  expect(await readRow(ana, id)).toMatchObject({ head: 3, epoch: (await readRow(ben, id)).epoch });
  expect(toTexts(await readLog(ben, id))).toEqual(["un", "deux", "trois"]);
});

test("messages stored by a restored log replace the newer row of a channel", async () => {
  const { ana, ben, id, conversation } = await makePairWithObjects();
  const copy = await copyOf(conversation);
  await sendTexts(ana, id, "perdu", "perdu aussi");
  await waitUntil(async () => (await readRow(ben, id)).head === 4);
  await restore(conversation, copy);
  await runInDurableObject(env.USER_CHANNEL.getByName(ana.id), (_, { storage: { sql } }) => {
    sql.exec("UPDATE inbox SET head = 2, counted = 2 WHERE conversation = ?", id);
  });
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  const phone = await Device.open(ben);
  await sendTexts(ana, id, "trois");
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  expect(await readRow(ben, id)).toMatchObject({ preview: { type: "text", text: "trois" }, unread: 1 });
  await waitUntil(() => phone.frames.some((frame) => Array.isArray(frame) && frame[0] === "i"));
});

test("a page and a row contain the times of the preceding messages, except invisible ones", async () => {
  const { ana, ben, id } = await makePairWithObjects();
  await sendTexts(ben, id, "trois", "quatre");
  await waitUntil(async () => (await readRow(ana, id)).head === 4);
  const log = await readLog(ana, id);
  const page = (query: { direction: "after" | "before"; seq: number; anchor?: number }) =>
    request(ana, { type: "page", conversation: id, limit: 1, ...query });
  expect((await page({ direction: "after", seq: 2 })).anchor).toBe(log[1]?.at);
  expect((await page({ direction: "before", seq: 5, anchor: 1 })).anchor).toBe(log[0]?.at);
  expect((await page({ direction: "before", seq: 5 })).anchor).toBeNull();
  expect((await readRow(ana, id)).prior).toBe(log[2]?.at);
  await request(ana, { type: "clearHistory", conversation: id, upTo: 2, keep: true });
  expect((await page({ direction: "after", seq: 2 })).anchor).toBeNull();
  const phone = await Device.open(ana);
  const answer = await phone.request((ref) => ["g", ref, id, "b", 5, 1, 3]);
  expect(answer.at(-1)).toBe((log[2]?.at ?? 0) - phone.now);
  expect(await phone.request((ref) => ["g", ref, createUuid(), "b", 5, 1, 3])).toMatchObject({ 0: "n" });
});
