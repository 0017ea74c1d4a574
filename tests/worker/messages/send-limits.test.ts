import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import {
  conversationMaxBytes,
  memberBytesPerDay,
  messageTextMaxLength,
  sendBurst,
  sendPerSecond,
  sendUnwrittenMax,
} from "#contract/limits/messages.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, makeText, readLog, request, sendTexts, toTexts } from "#tests/worker/support/device.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

// Production limits.

test("a person can send a burst and then one message a second, over all conversations, in order and over any transport", async () => {
  const { ana, ben, id } = await makePair();
  const other = await befriend(ana, await seedPerson());
  const device = await Device.open(ana);
  advanceClock(0); // the clock is frozen
  const refs = Array.from({ length: sendBurst + 5 }, (_, i) => device.sendText(id, `m${i + 1}`));
  const outcomes = await Promise.all(refs.map((ref) => device.waitForOutcome(ref)));
  const refused = outcomes.filter((outcome) => "error" in outcome);
  expect(refused).toHaveLength(5);
  // Checks that each refusal is a limit with a retry time: a device treats any other as a failure.
  for (const one of refused) expect(one).toMatchObject({ error: "rate_limited", retryAfterMs: expect.any(Number) });
  expect(await device.waitForOutcome(device.sendText(other, "ailleurs"))).toMatchObject({ error: "rate_limited" });
  expect(await sendTexts(ana, other, "par HTTP")).toEqual({ error: "rate_limited" });
  expect(toTexts(await readLog(ben, id))).toEqual(Array.from({ length: sendBurst }, (_, i) => `m${i + 1}`));
  advanceClock(2_000 / sendPerSecond);
  // Messages sent after the one to be repeated do not overtake it, even if the limit has room.
  expect(await device.waitForOutcome(device.sendText(id, "plus tard"))).toMatchObject({
    error: "rate_limited",
    retryAfterMs: expect.any(Number),
  });
  expect(await sendTexts(ana, other, "un", "deux", "trois")).toMatchObject({ sent: [{ seq: 1 }, { seq: 2 }] });
});

test("the longest texts count as five messages each", async () => {
  const { ana, id } = await makePair();
  advanceClock(0);
  const long = "a".repeat(messageTextMaxLength);
  const outcome = await sendTexts(ana, id, ...Array.from({ length: 15 }, () => long));
  expect(outcome.sent).toHaveLength(sendBurst / 5);
  expect(await sendTexts(ana, id, "court")).toEqual({ error: "rate_limited" });
});

test("eviction refills the burst no faster than time does", async () => {
  const { ana, id } = await makePair();
  advanceClock(0);
  const texts = Array.from({ length: 50 }, (_, i) => `m${i}`);
  await sendTexts(ana, id, ...texts);
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  const again = await sendTexts(ana, id, ...texts);
  expect(again.sent.length).toBeLessThanOrEqual(sendBurst - 50 + sendUnwrittenMax);
});

test("sending at normal speed costs no row for the limit", async () => {
  const { ana, id } = await makePair();
  const device = await Device.open(ana);
  await device.waitForOutcome(device.sendText(id, "un"));
  const read = () =>
    runInDurableObject(env.USER_CHANNEL.getByName(ana.id), (_, { storage }) =>
      storage.sql.exec("SELECT count(*) AS n FROM meta WHERE key = 'sends'").one(),
    );
  for (let i = 0; i < 3 * sendUnwrittenMax; i++) {
    advanceClock(1_000 / sendPerSecond);
    await device.waitForOutcome(device.sendText(id, `m${i}`));
  }
  expect(await read()).toEqual({ n: 0 });
});

test("a member's bytes per day are limited, also if the conversation is evicted", async () => {
  const { ana, ben, id } = await makePair();
  advanceClock(0);
  const long = "é".repeat(messageTextMaxLength);
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    const number = id.startsWith(ana.id) ? 0 : 1;
    storage.sql.exec("INSERT INTO sent_bytes VALUES (?, ?, ?)", number, 40_000, Date.now());
  });
  expect(await sendTexts(ana, id, long, long)).toMatchObject({ sent: [{ seq: 1 }, { seq: 2 }] });
  await evictDurableObject(env.CONVERSATION.getByName(id));
  const messages = [makeText(long)];
  const path = `/api/conversations/${id}/messages`;
  const refused = await call("POST", path, { token: ana.token, body: { messages } });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "conversation_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
  expect(await sendTexts(ben, id, long)).toMatchObject({ sent: [{ seq: 3 }] });
  advanceClock((long.length * 3 * 24 * 3_600_000) / memberBytesPerDay);
  expect(await request(ana, { type: "send", conversation: id, messages })).toMatchObject({ sent: [{ seq: 4 }] });
});

test("a full conversation refuses messages, and accepts commands that free room or end something", async () => {
  const { ana, ben, id } = await makePair();
  const cid = createUuid();
  await request(ana, { type: "send", conversation: id, messages: [makeText("un", cid)] });
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage.sql) as SqlStorage;
    vi.spyOn(prototype, "databaseSize", "get").mockReturnValue(conversationMaxBytes);
  });
  expect(await sendTexts(ana, id, "deux")).toEqual({ error: "conversation_full" });
  // Messages already stored are acknowledged again.
  expect(await request(ana, { type: "send", conversation: id, messages: [makeText("un", cid)] })).toMatchObject({
    sent: [{ cid, seq: 1 }],
  });
  expect(await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 })).toEqual({ unread: 0, head: 1 });
  expect((await call("PUT", `/api/blocks/${ana.id}`, { token: ben.token })).status).toBeLessThan(300);
  expect((await call("DELETE", `/api/blocks/${ana.id}`, { token: ben.token })).status).toBeLessThan(300);
  expect(await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 })).toEqual({ revision: 1 });
  expect(await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: true })).toMatchObject({
    hidden: 1,
  });
  expect((await call("DELETE", "/api/account", { token: ana.token, body: { user_id: ana.id } })).status).toBeLessThan(
    300,
  );
  vi.restoreAllMocks();
});
