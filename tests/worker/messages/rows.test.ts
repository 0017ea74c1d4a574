import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { fanOutAlarmMs, receiptHoldMs } from "#contract/limits/delivery.ts";
import { groupReactionHoldMs } from "#contract/limits/groups.ts";
import type { Body } from "#contract/messages/body.ts";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import { waitUntilIndexed } from "#tests/worker/search/search-fixture.ts";
import { Device, type FrameOf, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeForward } from "#tests/worker/support/forward.ts";
import { countDirectoryRows, createRowCounter, type RowCounter } from "#tests/worker/support/row-counter.ts";
import { makeVoiceBody } from "#tests/worker/support/seeded-files.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { toBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Rows and object requests per action: the local counterpart of the bill (docs/ARCHITECTURE.md). */
const readMax = 50;
const writtenMax = 6;

let count: RowCounter;
beforeAll(async () => {
  count = await createRowCounter();
});

const searchReadMax = 2_000;
const reactionReadMax = 40;
const searchedCount = 20_500; // the rows do not grow with it

const conversationCount = 1_000;
const messageCount = 200_000;

/** A pair with a chat of this length. */
const makeLongChat = async (length: number) => {
  const pair = await makePair();
  const { ben, id } = pair;
  await sendTexts(ben, id, "un");
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (seq, sender, cid, at, kind, body) SELECT i, i % 2, printf('00000000-0000-7000-8000-%012x', i), 1, 'text', 'ligne ' || i FROM n`,
      length,
    );
  });
  await evictDurableObject(env.CONVERSATION.getByName(id));
  return pair;
};

/** A person with many conversations, one of them long. */
const makeHeavy = async () => {
  const pair = await makeLongChat(messageCount);
  const { ana } = pair;
  await runInDurableObject(env.USER_CHANNEL.getByName(ana.id), (_, { storage }) => {
    const columns =
      "epoch, head, at, sender, preview, whole, unread, counted, delivered, read, others_delivered, others_read, hidden, open, turn";
    for (let i = 10; i < conversationCount + 10; i++) {
      storage.sql.exec(
        `INSERT INTO inbox (handle, conversation, changed, bucket, ${columns}) SELECT ?, ?, ?, ?, ${columns} FROM inbox WHERE handle = 1`,
        i,
        privateConversationId(ana.id, createUuid()),
        i,
        Math.floor(i / 16),
      );
    }
  });
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  return pair;
};

test("opening the list or any page of a chat reads at most 50 rows, whatever there is", async () => {
  const { ana, id } = await makeHeavy();
  const figures: Record<string, { read: number; written: number }> = {};
  let device: Device | undefined;
  figures["welcome, object asleep"] = await count(async () => {
    device = await Device.open(ana);
  });
  if (!device) throw new Error("no device");
  const phone = device;
  figures["welcome, object awake"] = await count(() => Device.open(ana));
  figures["next page of changes"] = await count(() => phone.request((ref) => ["c", ref, 0, 900]));
  figures["list by HTTP"] = await count(() => request(ana, { type: "changes", since: 0 }));
  figures["newest page, object asleep"] = await count(() =>
    phone.request((ref) => ["g", ref, id, "b", messageCount + 1, 40]),
  );
  figures["a page in the middle"] = await count(() =>
    phone.request((ref) => ["g", ref, id, "a", messageCount / 2, 40]),
  );
  phone.send(["k", 80]);
  for (const [name, { read }] of Object.entries(figures)) expect(read, name).toBeLessThanOrEqual(readMax);
});

test("a search in a long chat reads at most 2,000 rows, the first one too, and writes none once it was searched", async () => {
  const { ana, id } = await makeLongChat(searchedCount);
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage: { sql } }) => {
    sql.exec("UPDATE messages SET at = 1000 + seq");
    sql.exec("UPDATE messages SET body = 'www.exemple.cd' WHERE seq % 4000 = 5");
    const { kind, body } = toBodyColumns(makeVoiceBody(createUuid()));
    sql.exec("UPDATE messages SET kind = ?, body = ? WHERE seq % 4000 = 7", kind, body);
  });
  const phone = await Device.open(ana);
  const search = () => phone.request((ref) => ["q", ref, id, "nulle", searchedCount + 1]);
  const isFull = vi.spyOn(ConversationLog.prototype, "isFull", "get").mockReturnValue(true);
  const unindexed = await count(search);
  expect(unindexed.read).toBeLessThanOrEqual(searchReadMax);
  expect(unindexed.written).toBe(0);
  isFull.mockRestore();
  await search();
  await waitUntilIndexed(id);
  for (const query of ["un", "nulle part", "li", "ligne 777"]) {
    const { read, written } = await count(() => phone.request((ref) => ["q", ref, id, query, searchedCount + 1]));
    expect(read, query).toBeLessThanOrEqual(searchReadMax);
    expect(written, query).toBe(0);
  }
  const filters: SearchFilter[] = [
    ...([{ kind: "voice" }, { kind: "link" }, { kind: "text" }, { kind: "image" }, { from: 1 }, { from: 7 }] as const),
    ...([
      { from: 1, kind: "link" },
      { kind: "voice", before: 9_000 },
      { after: 6_000, before: 9_000 },
    ] as const),
  ];
  for (const filter of filters) {
    const { read, written } = await count(() => phone.request((ref) => ["q", ref, id, "", searchedCount + 1, filter]));
    expect(read, JSON.stringify(filter)).toBeLessThanOrEqual(searchReadMax);
    expect(written, JSON.stringify(filter)).toBe(0);
  }
  const voices = await phone.request((ref) => ["q", ref, id, "", searchedCount + 1, { kind: "voice" }]);
  expect(phone.decodeMessages(voices as FrameOf<"q">).map(({ seq }) => seq)).toEqual([
    20_007, 16_007, 12_007, 8_007, 4_007, 7,
  ]);
  // In one request, which examines at most 20 slices.
  const answer = await phone.request((ref) => ["q", ref, id, "nulle part", searchedCount + 1]);
  expect(answer.slice(2)).toEqual([[], null]);
  phone.close();
});

test.each([
  ["", true],
  [", where one does not let it be seen what they read", false],
])("a live exchange, both receipts included, writes at most six rows a message%s", async (_, receipts) => {
  const { ana, ben, id } = await makePair();
  if (!receipts) await call("PATCH", "/api/settings", { token: ben.token, body: { receipts } });
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const messages = 24;
  const { read, written } = await count(async () => {
    for (let i = 1; i <= messages; i++) {
      const [from, to] = i % 2 ? [phoneA, phoneB] : [phoneB, phoneA];
      await from.waitForOutcome(from.sendText(id, `m${i}`));
      await waitUntil(() => to.seqs.includes(i));
      to.send(["r", id, i, i]);
      await to.nextOf("u");
      await scheduler.wait(100);
    }
    await scheduler.wait(receiptHoldMs + 200);
  });
  expect(written / messages, `${read / messages} read`).toBeLessThanOrEqual(writtenMax);
});

test("reactions of many members of a group read a few rows for each member who is notified", async () => {
  const owner = await seedPerson();
  const id = createUuid();
  const others = Array.from({ length: 60 }, createUuid);
  const group: ConversationRpc = getConversationStub(env, id);
  await group.createGroup(
    owner.id,
    "Quartier",
    others.map((user) => ({ user, isHidden: false })),
  );
  await waitUntil(async () => (await readRow(owner, id)).open);
  await sendTexts(owner, id, "Réunion");
  await scheduler.wait(fanOutAlarmMs + receiptHoldMs);
  const { read } = await count(async () => {
    await Promise.all(
      others.map((user) => group.react(user, { type: "react", conversation: id, seq: 2, emoji: "👍" })),
    );
    await waitUntil(async () => (await readRow(owner, id)).revision === others.length);
    await scheduler.wait(groupReactionHoldMs);
  });
  expect(read / others.length).toBeLessThanOrEqual(reactionReadMax);
});

test("a plain message costs the directory no row, a first forward of an author to a conversation one row", async () => {
  const { ana, ben, id } = await makePair();
  const to = await befriend(ana, await seedPerson());
  const [phone, source] = [await Device.open(ana), { conversation: id, seq: 1 }];
  await sendTexts(ben, id, "Mbote");
  expect(await countDirectoryRows(() => phone.waitForOutcome(phone.sendText(to, "un")))).toEqual({
    read: 0,
    written: 0,
  });
  const costs = async (body: Body) => {
    const { written } = await countDirectoryRows(() =>
      phone.waitForOutcome(phone.sendMessage(to, { cid: createUuid(), body, source })),
    );
    return written;
  };
  expect(await costs(makeForward("Mbote", ben))).toBe(1);
  expect(await costs(makeForward("Mbote", ben))).toBe(0);
});

test("deleting an undelivered message costs one row, refusing it none, and accompanying messages the usual", async () => {
  const { ana, id } = await makePair();
  const phone = await Device.open(ana);
  await phone.waitForOutcome(phone.sendText(id, "un"));
  const calm = () => scheduler.wait(receiptHoldMs + 1_000);
  const say = () =>
    count(async () => {
      await phone.waitForOutcome(phone.sendText(id, "deux"));
      await calm();
    });
  await calm();
  const before = await say();
  const cid = createUuid();
  expect((await count(() => request(ana, { type: "deletePending", conversation: id, cid }))).written).toBe(1);
  expect((await count(() => phone.waitForOutcome(phone.sendText(id, "regretté", cid)))).written).toBe(0);
  expect(await say()).toEqual(before);
});

test("an edit costs four rows of the conversation, with an index entry and the former text, and one of each inbox", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await Device.open(ana);
  await phone.waitForOutcome(phone.sendText(id, "un"));
  const calm = () => scheduler.wait(receiptHoldMs + 1_500);
  await calm();
  const { written } = await count(async () => {
    await request(ana, { type: "editMessage", conversation: id, target: 1, edit: 0, text: "deux" });
    await waitUntil(async () => (await readRow(ben, id)).revision === 1);
    await calm();
  });
  expect(written).toBe(6);
});

test("a reaction costs two rows in the conversation, one in each inbox and at most one for the alarm, repeating it none", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  await phoneA.waitForOutcome(phoneA.sendText(id, "un"));
  await scheduler.wait(receiptHoldMs + 1_000);
  const react = () =>
    count(async () => {
      await phoneB.request((ref) => ["x", ref, id, 1, "👍"]);
      await scheduler.wait(receiptHoldMs + 1_000);
    });
  expect((await react()).written).toBeLessThanOrEqual(5);
  expect((await react()).written).toBe(0);
});

test("presence costs a row only at its end, and requesting it none", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const looks = async (isLooked: 0 | 1) => {
    phoneB.send(["l", isLooked]);
    await waitUntil(async () => (await phoneA.request((ref) => ["L", ref, id]))[2] === isLooked);
  };
  expect(await count(() => looks(1))).toEqual({ read: 0, written: 0 });
  expect(await count(() => phoneA.request((ref) => ["L", ref, id]))).toEqual({ read: 0, written: 0 });
  // Time of going offline.
  expect((await count(() => looks(0))).written).toBe(1);
  expect(await count(() => phoneA.request((ref) => ["L", ref, id]))).toEqual({ read: 0, written: 0 });
  expect((await count(() => looks(1))).written).toBe(0);
});
