import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, packUuid } from "#contract/ids.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { advanceClock, suspendAlarms, suspendTimers } from "#tests/worker/support/clock.ts";
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
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const channelStub = (user: string) => env.USER_CHANNEL.getByName(user);
const conversationStub = (id: string) => env.CONVERSATION.getByName(id);
const unreachable = () => Promise.reject(new Error("unreachable, as the test wants it"));
const quiet = () => vi.spyOn(console, "error").mockImplementation(() => {});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the alarm now. Returns false if none was set. */
const ring = (id: string) => runDurableObjectAlarm(conversationStub(id));

test("a message whose object was evicted between storing and notifying is still delivered", async () => {
  suspendAlarms();
  const { ana, ben, id } = await makePair();
  const phoneB = await Device.open(ben);
  quiet();
  const deaf = vi.spyOn(UserChannel.prototype, "notify").mockImplementation(unreachable);
  expect((await sendTexts(ana, id, "avant la chute")).sent).toMatchObject([{ seq: 1 }]);
  await evictDurableObject(conversationStub(id));
  deaf.mockRestore();
  expect(phoneB.seqs).toEqual([]);
  expect(await ring(id)).toBe(true);
  expect(await phoneB.nextLive()).toMatchObject({ seq: 1, text: "avant la chute" });
  expect(await readRow(ben, id)).toMatchObject({ head: 1, unread: 1 });
});

test("a channel that cannot be reached delays no acknowledgement and is notified of everything later", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  quiet();
  const deaf = vi.spyOn(UserChannel.prototype, "notify").mockImplementation(unreachable);
  for (let i = 1; i <= 5; i++)
    expect(await phoneA.waitForOutcome(phoneA.sendText(id, `m${i}`))).toMatchObject({ seq: i });
  deaf.mockRestore();
  await waitUntil(async () => {
    await ring(id);
    return phoneB.seqs.length === 5;
  }, 10_000);
  expect(phoneB.seqs).toEqual([1, 2, 3, 4, 5]);
  expect(await readRow(ben, id)).toMatchObject({ head: 5, unread: 5 });
});

test("an alarm that runs twice, or without need, notifies nobody twice", async () => {
  const { ana, ben, id } = await makePair();
  const phoneB = await Device.open(ben);
  await sendTexts(ana, id, "une fois");
  await phoneB.nextLive();
  const counters = phoneB.counters.length;
  await ring(id);
  await sendTexts(ana, id, "deux");
  await evictDurableObject(conversationStub(id));
  await Promise.all([ring(id), ring(id)]);
  await waitUntil(() => phoneB.seqs.length === 2);
  await scheduler.wait(50);
  expect(phoneB.seqs).toEqual([1, 2]);
  expect(phoneB.counters).toHaveLength(counters + 1);
});

test("an answer lost after the message was stored is repeated when the message is sent again", async () => {
  const { ana, id } = await makePair();
  const [phone, tablet] = [await Device.open(ana), await Device.open(ana)];
  quiet();
  const send = Conversation.prototype.sendMessages;
  vi.spyOn(Conversation.prototype, "sendMessages").mockImplementationOnce(async function (this: Conversation, ...args) {
    await send.apply(this, args);
    return unreachable();
  });
  const cid = createUuid();
  expect(await phone.waitForOutcome(phone.sendText(id, "stocké, pas confirmé", cid))).toEqual({ error: "unavailable" });
  expect(await phone.waitForOutcome(phone.sendText(id, "stocké, pas confirmé", cid))).toMatchObject({ seq: 1 });
  await waitUntil(() => tablet.seqs.length === 1);
  expect(await readRow(ana, id)).toMatchObject({ head: 1, unread: 0 });
  expect(toTexts(await readLog(ana, id))).toEqual(["stocké, pas confirmé"]);
});

test("a channel evicted between acknowledging a notice and writing it is notified again", async () => {
  suspendAlarms();
  suspendTimers(receiptHoldMs / 2, receiptHoldMs);
  const { ana, id } = await makePair();
  const phone = await Device.open(ana);
  expect(await phone.waitForOutcome(phone.sendText(id, "acquitté, pas encore noté"))).toMatchObject({ seq: 1 });
  await runInDurableObject(channelStub(ana.id), (_, state) => state.abort("as if the machine had died")).catch(
    () => undefined,
  );
  expect(await readRow(ana, id)).toMatchObject({ head: 0 });
  const tablet = await Device.open(ana);
  advanceClock(1_000); // time that the conversation gives a channel to answer
  expect(await ring(id)).toBe(true);
  expect(tablet.decodeMessages(await tablet.nextOf("m"))).toMatchObject([{ seq: 1 }]);
  expect(await readRow(ana, id)).toMatchObject({ head: 1, unread: 0 });
});

test("frames sent together are one commit, and one frame to each socket", async () => {
  const { ana, ben, id } = await makePair();
  const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const cids = Array.from({ length: 5 }, () => createUuid());
  const frames = cids.map((cid, i) => ["s", i, id, packUuid(cid), `m${i}`]);
  phone.sendRaw(JSON.stringify(frames));
  const [, counter, ...places] = await phone.nextOf("a");
  expect(places.filter((_, i) => i % 3 === 0)).toEqual([0, 1, 2, 3, 4]);
  expect(places.filter((_, i) => i % 3 === 1)).toEqual([1, 2, 3, 4, 5]);
  const messageFrame = await tablet.nextOf("m");
  expect(messageFrame[1]).toBe(counter);
  expect(tablet.decodeMessages(messageFrame).map(({ cid }) => cid)).toEqual(cids);
  expect(phoneB.decodeMessages(await phoneB.nextOf("m")).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
});

test("two devices of a person that send together each get their own positions and the other's messages", async () => {
  const { ana, id } = await makePair();
  const [phone, tablet] = [await Device.open(ana), await Device.open(ana)];
  // The first message keeps the call to the conversation busy, so that the others are batched.
  const refs = [phone.sendText(id, "0"), phone.sendText(id, "1"), phone.sendText(id, "2")];
  const refsOfTablet = [tablet.sendText(id, "3"), tablet.sendText(id, "4")];
  for (const ref of refs) expect(await phone.waitForOutcome(ref)).toHaveProperty("seq");
  for (const ref of refsOfTablet) expect(await tablet.waitForOutcome(ref)).toHaveProperty("seq");
  await waitUntil(() => phone.seqs.length === 5 && tablet.seqs.length === 5);
  for (const device of [phone, tablet]) {
    expect([...device.seqs].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(device.counters).toEqual(device.counters.map((_, i) => device.base + 1 + i));
  }
  expect(phone.counters).toEqual(tablet.counters);
});

test("messages after one that must be sent again do not overtake it", async () => {
  const { ana, id } = await makePair();
  const phone = await Device.open(ana);
  quiet();
  vi.spyOn(Conversation.prototype, "sendMessages").mockImplementationOnce(unreachable);
  const cids = Array.from({ length: 6 }, () => createUuid());
  const sayAll = () => cids.map((cid, i) => phone.sendText(id, `${i}`, cid));
  const refs = sayAll();
  expect(await phone.waitForOutcome(refs[0] as number)).toEqual({ error: "unavailable" });
  // These were in flight when the first was refused, and this one arrives even later.
  const late = phone.sendText(id, "6");
  for (const ref of [...refs, late]) expect(await phone.waitForOutcome(ref)).toEqual({ error: "unavailable" });
  for (const ref of sayAll()) expect(await phone.waitForOutcome(ref)).toHaveProperty("seq");
  expect(toTexts(await readLog(ana, id))).toEqual(["0", "1", "2", "3", "4", "5"]);
});

test("objects evicted between every two frames lose nothing and push every change once", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  for (let i = 1; i <= 4; i++) {
    const [from, to] = i % 2 ? [phoneA, phoneB] : [phoneB, phoneA];
    expect(await from.waitForOutcome(from.sendText(id, `m${i}`))).toMatchObject({ seq: i });
    await waitUntil(() => to.seqs.includes(i));
    to.send(["r", id, i, i]);
    await to.nextOf("u");
    await waitUntil(() => from.frames.some((frame) => Array.isArray(frame) && frame[0] === "o" && frame[4] === i));
    for (const stub of [channelStub(ana.id), channelStub(ben.id), conversationStub(id)]) await evictDurableObject(stub);
  }
  for (const phone of [phoneA, phoneB]) {
    expect(phone.seqs).toEqual([1, 2, 3, 4]);
    expect(phone.counters).toEqual(Array.from({ length: phone.counters.length }, (_, i) => phone.base + 1 + i));
  }
  expect(await readRow(ana, id)).toMatchObject({ head: 4, unread: 0, othersRead: 3, read: 4 });
});

test("every change is exactly one frame, with the next number, on each of a person's sockets", async () => {
  const { ana, ben, id } = await makePair();
  const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const refs = [];
  for (let i = 0; i < 30; i++) {
    refs.push([phone, phone.sendText(id, `p${i}`)] as const);
    if (i % 3 === 0) refs.push([tablet, tablet.sendText(id, `t${i}`)] as const);
    if (i % 4 === 0) void sendTexts(ana, id, `h${i}`);
    if (i % 5 === 0) phoneB.sendText(id, `b${i}`);
    if (i % 6 === 0) phoneB.send(["r", id, i, i]);
    if (i % 10 === 0) await scheduler.wait(5);
  }
  for (const [device, ref] of refs) expect(await device.waitForOutcome(ref)).toHaveProperty("seq");
  const total = 30 + 10 + 8 + 6;
  await waitUntil(async () => (await readRow(ana, id)).head === total && (await readRow(ben, id)).head === total);
  await waitUntil(() => [phone, tablet, phoneB].every((device) => new Set(device.seqs).size === total));
  await scheduler.wait(100);
  for (const device of [phone, tablet, phoneB]) {
    const { counters, seqs } = device;
    // An acknowledgement of a message that already arrived another way repeats the counter, and so does the answer to a
    // receipt that changes nothing. No answer skips a counter.
    const distinct = [...new Set(counters)].filter((counter) => counter > device.base);
    expect(distinct).toEqual(Array.from({ length: distinct.length }, (_, i) => device.base + 1 + i));
    expect([...new Set(seqs)].sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
  }
  expect(new Set(phone.counters).size).toBe(new Set(tablet.counters).size);
});

test("the other devices of a sender receive its messages with their client ids, over either transport", async () => {
  const { ana, id } = await makePair();
  const [phone, tablet] = [await Device.open(ana), await Device.open(ana)];
  const [first, second] = [createUuid(), createUuid()];
  await phone.waitForOutcome(phone.sendText(id, "du téléphone", first));
  expect(tablet.decodeMessages(await tablet.nextOf("m"))).toMatchObject([{ seq: 1, cid: first }]);
  await request(ana, { type: "send", conversation: id, messages: [makeText("par HTTP", second)] });
  expect(tablet.decodeMessages(await tablet.nextOf("m"))).toMatchObject([{ seq: 2, cid: second }]);
  expect(phone.decodeMessages(await phone.nextOf("m"))).toMatchObject([{ seq: 2, cid: second }]);
});

/** Random number generator (mulberry32): the same numbers for the same seed. */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

test.each([1, 2, 3])(
  "after random events (seed %i) unread counts equal a recount and receipts never went back",
  async (seed) => {
    const { ana, ben, id } = await makePair();
    const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
    const random = seeded(seed);
    const pick = (n: number) => Math.floor(random() * n);
    quiet();
    let sent = 0;
    const work: Promise<unknown>[] = [];
    for (let step = 0; step < 120; step++) {
      const [person, devices] = random() < 0.5 ? [ana, [phone, tablet]] : [ben, [phoneB]];
      const device = devices[pick(devices.length)] as Device;
      const upTo = pick(sent + 3);
      switch (pick(9)) {
        case 0:
        case 1:
        case 2:
          device.sendText(id, `m${++sent}`);
          break;
        case 3:
          work.push(sendTexts(person, id, `h${++sent}`, `h${++sent}`));
          break;
        case 4:
        case 5:
          device.send(["r", id, upTo, pick(upTo + 1)]);
          break;
        case 6:
          if (random() < 0.15)
            work.push(request(person, { type: "clearHistory", conversation: id, upTo, keep: false }));
          break;
        case 7:
          work.push(request(person, { type: "deleteForEveryone", conversation: id, seq: upTo + 1 }));
          break;
        case 8: {
          await Promise.all(work.splice(0));
          const stub = [channelStub(ana.id), channelStub(ben.id), conversationStub(id)][pick(3)];
          if (stub && random() < 0.2) await evictDurableObject(stub).catch(() => undefined);
          break;
        }
      }
      if (random() < 0.3) await scheduler.wait(pick(6));
    }
    await Promise.all(work);
    await waitUntil(async () => {
      await ring(id);
      const [a, b] = [await readRow(ana, id), await readRow(ben, id)];
      return a.head === b.head && a.head === sent && a.revision === b.revision;
    }, 10_000);
    for (const [person, devices] of [
      [ana, [phone, tablet]],
      [ben, [phoneB]],
    ] as const) {
      const row = await readRow(person, id);
      const truth = await runInDurableObject(conversationStub(id), (_, { storage }) => {
        const [member] = storage.sql.exec("SELECT * FROM members WHERE user_id = ?", person.id).toArray();
        const from = Math.max(Number(member?.["read"]), Number(member?.["hidden"]));
        const count = "SELECT count(*) AS n FROM messages WHERE seq > ? AND sender <> ? AND kind <> 'deleted'";
        return {
          unread: storage.sql.exec(count, from, Number(member?.["number"])).one()["n"],
          delivered: member?.["delivered"],
          read: member?.["read"],
          hidden: member?.["hidden"],
          revision: storage.sql.exec("SELECT revision FROM conversation").one()["revision"],
        };
      });
      expect(row).toMatchObject(truth);
      for (const device of devices) {
        const marks = device.frames.flatMap((frame) => (Array.isArray(frame) && frame[0] === "u" ? [frame[4]] : []));
        expect(marks).toEqual([...marks].sort((a = 0, b = 0) => a - b));
      }
    }
    const log = await readLog(ana, id);
    const inLog = await runInDurableObject(conversationStub(id), (_, { storage }) =>
      storage.sql.exec("SELECT count(*) AS n, max(seq) AS head, count(DISTINCT cid) AS cids FROM messages").one(),
    );
    expect(inLog).toEqual({ n: sent, head: sent, cids: sent });
    expect(log.every(({ seq }, i) => i === 0 || seq === (log[i - 1]?.seq ?? 0) + 1)).toBe(true);
  },
);
