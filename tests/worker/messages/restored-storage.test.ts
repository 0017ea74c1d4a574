import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { closeCodes } from "#contract/wire/server-frames.ts";
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

/**
 * Replaces the tables of an object by an earlier copy, of another restore generation than the one in force, and evicts
 * the object.
 */
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
        if (name === "conversation") storage.sql.exec("UPDATE conversation SET epoch = epoch || '.7'");
        if (name === "meta") storage.sql.exec("UPDATE meta SET value = value || '.7' WHERE key = 'epoch'");
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

test("a restored channel has another epoch: it closes its sockets, and a device receives everything", async () => {
  const { ana, id, channel } = await makePairWithObjects();
  const phone = await Device.open(ana);
  const { epoch } = phone;
  const known = phone.base;
  const copy = await copyOf(channel);
  await restore(channel, copy);
  await request(ana, { type: "changes", since: 0 }); // wakes the object
  expect(await phone.closed).toMatchObject({ code: closeCodes.behind });
  const ahead = await Device.attach(ana);
  const all = await ahead.hello(epoch, known);
  expect(ahead.epoch).not.toBe(epoch);
  expect(all.at(-2)).toBe(0); // the cursor that the answer begins at
  expect(ahead.decodeRows(all).map(({ conversation }) => conversation)).toContain(id);
  const level = await Device.attach(ana);
  expect((await level.hello(ahead.epoch, ahead.base)).at(-2)).toBe(ahead.base);
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

test("a restored conversation has another epoch, and the row that says so precedes the acknowledgement of a message", async () => {
  const { ana, ben, id, conversation } = await makePairWithObjects();
  const copy = await copyOf(conversation);
  await sendTexts(ana, id, "perdu", "perdu aussi");
  await waitUntil(async () => (await readRow(ben, id)).head === 4);
  const before = await readRow(ben, id);
  const phone = await Device.open(ana);
  await restore(conversation, copy);
  phone.sendText(id, "trois");
  await waitUntil(() => phone.frames.some((frame) => Array.isArray(frame) && frame[0] === "a"));
  const letters = phone.frames.flatMap((frame) => (Array.isArray(frame) ? [frame[0]] : []));
  expect(letters.indexOf("i")).toBeGreaterThanOrEqual(0);
  expect(letters.indexOf("i")).toBeLessThan(letters.indexOf("a"));
  await waitUntil(async () => {
    const { epoch, head } = await readRow(ben, id);
    return epoch !== before.epoch && head === 3;
  });
  expect(await readRow(ben, id)).toMatchObject({ head: 3, preview: { type: "text", text: "trois" }, unread: 1 });
  await waitUntil(async () => (await readRow(ana, id)).head === 3);
  expect(await readRow(ana, id)).toMatchObject({ head: 3, epoch: (await readRow(ben, id)).epoch });
  expect(toTexts(await readLog(ben, id))).toEqual(["un", "deux", "trois"]);
});

test("a restored conversation tells its members as soon as anybody asks for a page", async () => {
  const { ana, ben, id, conversation } = await makePairWithObjects();
  const copy = await copyOf(conversation);
  await sendTexts(ana, id, "perdu");
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  await restore(conversation, copy);
  const page = await request(ben, { type: "page", conversation: id, direction: "before", seq: 9, limit: 1 });
  expect(page).toMatchObject({ head: 2 });
  for (const person of [ana, ben])
    await waitUntil(async () => {
      const { epoch, head } = await readRow(person, id);
      return epoch === page.epoch && head === 2;
    });
});
