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
} from "#contract/limits.ts";
import { pass } from "#tests/worker/support/clock.ts";
import { Device, post, readLog, request, text, textsOf } from "#tests/worker/support/device.ts";
import { befriend, newPair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

// Production limits.

test("a person sends a burst and then one message a second, over all conversations, in order and by whichever way", async () => {
  const { ana, ben, id } = await newPair();
  const other = await befriend(ana, await seedPerson());
  const device = await Device.open(ana);
  pass(0); // the clock is frozen
  const refs = Array.from({ length: sendBurst + 5 }, (_, i) => device.say(id, `m${i + 1}`));
  const outcomes = await Promise.all(refs.map((ref) => device.outcome(ref)));
  const refused = outcomes.filter((outcome) => "error" in outcome);
  expect(refused).toHaveLength(5);
  // Checks that each refusal is a limit with a retry time: a device treats any other as a failure.
  for (const one of refused) expect(one).toMatchObject({ error: "rate_limited", retryAfterMs: expect.any(Number) });
  expect(await device.outcome(device.say(other, "ailleurs"))).toMatchObject({ error: "rate_limited" });
  expect(await post(ana, other, "par HTTP")).toEqual({ error: "rate_limited" });
  expect(textsOf(await readLog(ben, id))).toEqual(Array.from({ length: sendBurst }, (_, i) => `m${i + 1}`));
  pass(2_000 / sendPerSecond);
  // Messages sent after the one to be repeated do not overtake it, even if the limit has room.
  expect(await device.outcome(device.say(id, "plus tard"))).toMatchObject({
    error: "rate_limited",
    retryAfterMs: expect.any(Number),
  });
  expect(await post(ana, other, "un", "deux", "trois")).toMatchObject({ sent: [{ seq: 1 }, { seq: 2 }] });
});

test("sleep gives back no more of the burst than time does", async () => {
  const { ana, id } = await newPair();
  pass(0);
  const texts = Array.from({ length: 50 }, (_, i) => `m${i}`);
  await post(ana, id, ...texts);
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  const again = await post(ana, id, ...texts);
  expect(again.sent.length).toBeLessThanOrEqual(sendBurst - 50 + sendUnwrittenMax);
});

test("whoever writes at a person's pace costs no row for it", async () => {
  const { ana, id } = await newPair();
  const device = await Device.open(ana);
  await device.outcome(device.say(id, "un"));
  const read = () =>
    runInDurableObject(env.USER_CHANNEL.getByName(ana.id), (_, { storage }) =>
      storage.sql.exec("SELECT count(*) AS n FROM meta WHERE key = 'sends'").one(),
    );
  for (let i = 0; i < 3 * sendUnwrittenMax; i++) {
    pass(1_000 / sendPerSecond);
    await device.outcome(device.say(id, `m${i}`));
  }
  expect(await read()).toEqual({ n: 0 });
});

test("a member sends so many bytes in a day, also across the sleep of the conversation", async () => {
  const { ana, ben, id } = await newPair();
  pass(0);
  const long = "é".repeat(messageTextMaxLength);
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    const number = id.startsWith(ana.id) ? 0 : 1;
    storage.sql.exec("INSERT INTO sent_bytes VALUES (?, ?, ?)", number, 40_000, Date.now());
  });
  expect(await post(ana, id, long, long)).toMatchObject({ sent: [{ seq: 1 }, { seq: 2 }] });
  await evictDurableObject(env.CONVERSATION.getByName(id));
  const messages = [text(long)];
  const path = `/api/conversations/${id}/messages`;
  const refused = await call("POST", path, { token: ana.token, body: { messages } });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "conversation_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
  expect(await post(ben, id, long)).toMatchObject({ sent: [{ seq: 3 }] });
  pass((long.length * 3 * 24 * 3_600_000) / memberBytesPerDay);
  expect(await request(ana, { type: "send", conversation: id, messages })).toMatchObject({ sent: [{ seq: 4 }] });
});

test("a conversation that is full takes no messages, and everything else that makes room or ends something", async () => {
  const { ana, ben, id } = await newPair();
  const cid = createUuid();
  await request(ana, { type: "send", conversation: id, messages: [text("un", cid)] });
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage.sql) as SqlStorage;
    vi.spyOn(prototype, "databaseSize", "get").mockReturnValue(conversationMaxBytes);
  });
  expect(await post(ana, id, "deux")).toEqual({ error: "conversation_full" });
  // Messages already stored are acknowledged again.
  expect(await request(ana, { type: "send", conversation: id, messages: [text("un", cid)] })).toMatchObject({
    sent: [{ cid, seq: 1 }],
  });
  expect(await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 })).toEqual({ unread: 0, head: 1 });
  expect((await call("PUT", `/api/blocks/${ana.id}`, { token: ben.token })).status).toBeLessThan(300);
  expect((await call("DELETE", `/api/blocks/${ana.id}`, { token: ben.token })).status).toBeLessThan(300);
  expect(await request(ana, { type: "retract", conversation: id, seq: 1 })).toEqual({ revision: 1 });
  expect(await request(ben, { type: "hide", conversation: id, upTo: 1, keep: true })).toEqual({ hidden: 1 });
  expect((await call("DELETE", "/api/account", { token: ana.token, body: { user_id: ana.id } })).status).toBeLessThan(
    300,
  );
  vi.restoreAllMocks();
});
