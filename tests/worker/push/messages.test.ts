import { evictDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import {
  pushConversationPauseMs,
  pushForegroundWaitMs,
  pushLifetimeSeconds,
  pushPauseMs,
} from "#contract/limits/push.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeGroup } from "#tests/worker/support/make-group.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { bodies, channelOf, runAlarm, settle, startPushServices, subscribe, waitForUnread } from "./push-fixture.ts";
import { makeOtherSession, type PushDevice } from "./push-service.ts";

startPushServices();

/** Two connected people who know each other's names. */
const makeAcquaintances = async () => {
  const pair = await makePair();
  const { ana, ben } = pair;
  const { id, username, phone } = ana;
  const profile = { id, username, phone, avatar_url: null, created_at: 1 };
  const relation = {
    profile,
    state: "contact",
    request_id: null,
    connection_id: null,
    since: 1,
    blocked: false,
  } as const;
  await channelOf(ben).updateRelations([relation]);
  return pair;
};

test("a message reaches a closed device within a second, once, with all that a notification needs", async () => {
  const { ana, ben, id } = await makeAcquaintances();
  const phone = await subscribe(ben);
  const sentAt = Date.now();
  await sendTexts(ana, id, "Mbote, ndeko!");
  const { payload, headers, at, bytes } = await phone.next();
  expect(at - sentAt).toBeLessThanOrEqual(1_000);
  expect(payload).toEqual({
    web_push: 8030,
    notification: {
      title: ana.username,
      body: "Mbote, ndeko!",
      navigate: `https://lisolo.test/app/chat/${ana.id}`,
      tag: `c:${id}`,
      lang: "fr",
      dir: "auto",
    },
    mutable: true,
    data: {
      kind: "message",
      user: ben.id,
      conversation: id,
      count: 1,
      head: 1,
      sentAt: expect.any(Number),
      isAlerting: true,
    },
  });
  expect(headers.get("ttl")).toBe(String(pushLifetimeSeconds));
  expect(headers.get("urgency")).toBe("high");
  expect(headers.get("topic")).toMatch(/^[\w-]{32}$/);
  expect(bytes).toBeLessThanOrEqual(900);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(1);
});

test("the author's own devices are not notified", async () => {
  const { ana, ben, id } = await makePair();
  const [phone, own] = [await subscribe(ben), await subscribe(ana)];
  await sendTexts(ana, id, "un");
  await phone.next();
  await settle();
  expect(own.requests).toBe(0);
});

test("five messages at once are at most two pushes, of which only the first makes itself heard", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  for (const text of ["un", "deux", "trois", "quatre", "cinq"]) await sendTexts(ana, id, text);
  await waitUntil(() => phone.received.at(-1)?.payload.data.count === 5, 15_000);
  await settle();
  expect(phone.requests).toBeLessThanOrEqual(2);
  const [first, last] = [phone.received[0]?.payload, phone.received.at(-1)?.payload];
  expect(last?.notification.body).toBe("5 nouveaux messages\ncinq");
  const [firstAt = 0, lastAt = 0] = phone.received.map(({ at }) => at);
  expect(lastAt - firstAt).toBeGreaterThan(pushConversationPauseMs / 2); // a busy machine receives the first one late
  expect(last?.notification.tag).toBe(first?.notification.tag);
  expect(phone.received.map(({ headers }) => headers.get("topic"))[0]).toBe(
    phone.received.at(-1)?.headers.get("topic"),
  );
  expect([first?.data.isAlerting, last?.data.isAlerting]).toEqual([true, false]);
});

test("two conversations are pushed one after the other", async () => {
  const { ana, ben, id } = await makePair();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  const phone = await subscribe(ben);
  await Promise.all([sendTexts(ana, id, "d'Ana"), sendTexts(cal, other, "de Cal")]);
  const [first, second] = [await phone.next(1), await phone.next(2)];
  expect(second.at - first.at).toBeGreaterThan(pushPauseMs / 2); // a busy machine receives the first one late
  expect(bodies(phone).sort()).toEqual(["d'Ana", "de Cal"]);
  expect(first.headers.get("topic")).not.toBe(second.headers.get("topic"));
});

test("what a notification shows depends on the settings of private chats and groups, on the kind and the language", async () => {
  const { ana, ben, id } = await makeAcquaintances();
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben], group);
  await waitUntil(async () => (await readRow(ben, group)).open);
  const phone = await subscribe(ben, "pt");
  const hide = (key: "messages" | "groups") =>
    call("PATCH", "/api/settings", { token: ben.token, body: { [key]: { sound: true, preview: false } } });
  await hide("messages");
  await sendTexts(ana, id, "secret");
  const { notification } = (await phone.next()).payload;
  expect([notification.title, notification.body, notification.lang]).toEqual([ana.username, "Nova mensagem", "pt"]);
  await sendTexts(ana, group, "à tous");
  const inGroup = (await phone.next(2)).payload.notification;
  expect([inGroup.title, inGroup.body, inGroup.navigate]).toEqual([
    "Famille",
    `${ana.username}: à tous`,
    `https://lisolo.test/app/group/${group}`,
  ]);
  await hide("groups");
  await sendTexts(ana, group, "encore");
  expect((await phone.next(3)).payload.notification.body).toBe("2 novas mensagens");
  expect(JSON.stringify(phone.received[2]?.payload)).not.toMatch(new RegExp(`encore|${ana.username}`));
});

/** Starts a new instance of a person's channel by a message of somebody else, so that it looks through all conversations. */
const restartWithMessageOfAnother = async (person: Person, device: PushDevice) => {
  await evictDurableObject(channelOf(person));
  const cal = await seedPerson();
  await sendTexts(cal, await befriend(person, cal), "de Cal");
  await device.next();
  await scheduler.wait(pushPauseMs);
  await runAlarm(person);
  await settle();
};

test("a muted conversation notifies nobody, and neither do its old messages once it is not muted any more", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  await request(ben, { type: "mute", conversation: id, muted: true });
  await sendTexts(ana, id, "un");
  await waitForUnread(ben, id, 1);
  await settle();
  await request(ben, { type: "mute", conversation: id, muted: false });
  await restartWithMessageOfAnother(ben, phone);
  expect(bodies(phone)).toEqual(["de Cal"]);
  await sendTexts(ana, id, "deux");
  expect((await phone.next(2)).payload.data.count).toBe(2);
});

test("a blocked person, a removed subscription and a signed-out device cause no push", async () => {
  const { ana, ben, id } = await makePair();
  const [phone, gone] = [await subscribe(ben), await subscribe(ana)];
  await call("PUT", `/api/blocks/${ana.id}`, { token: ben.token });
  await sendTexts(ana, id, "bloqué");
  await call("DELETE", `/api/blocks/${ana.id}`, { token: ben.token });
  await call("POST", "/api/auth/logout?scope=local", { token: ana.token });
  await sendTexts(ben, id, "absente");
  await settle();
  await call("DELETE", "/api/push/subscription", { token: ben.token });
  expect([phone.requests, gone.requests]).toEqual([0, 0]);
});

test("messages from before the subscription are not pushed", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "avant");
  await waitForUnread(ben, id, 1);
  const phone = await subscribe(ben);
  await restartWithMessageOfAnother(ben, phone);
  expect(bodies(phone)).toEqual(["de Cal"]);
  await sendTexts(ana, id, "après");
  expect((await phone.next(2)).payload.data.count).toBe(2);
});

/** A person with a subscribed device in the foreground and a closed one; the clock is stopped. */
const withForegroundDevice = async () => {
  const { ana, ben, id } = await makePair();
  const [laptop, laptopPush] = [await Device.open(ben), await subscribe(ben)];
  laptop.send(["l", 1]);
  await waitUntil(
    async () => (await call("GET", `/api/conversations/${id}/presence`, { token: ana.token })).status === 200,
  );
  const phone = await subscribe(await makeOtherSession(ben));
  await settle();
  advanceClock(0);
  return { ana, ben, id, laptop, laptopPush, phone };
};

test("while a device is in the foreground, the others are notified only if the message is still unread", async () => {
  const { ana, ben, id, laptop, laptopPush, phone } = await withForegroundDevice();
  await sendTexts(ana, id, "un");
  await waitForUnread(ben, id, 1);
  await waitUntil(() => laptop.seqs.includes(1));
  advanceClock(pushForegroundWaitMs - 1);
  laptop.send(["r", id, 1, 0]);
  await laptop.waitForPong();
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(0);
  advanceClock(1);
  await runAlarm(ben);
  expect((await phone.next()).payload.notification.body).toBe("un");
  expect([phone.requests, laptopPush.requests]).toEqual([1, 0]);
  // The next instance knows it too.
  laptop.close();
  await evictDurableObject(channelOf(ben));
  await sendTexts(ben, id, "merci");
  await settle();
  expect([phone.requests, laptopPush.requests]).toEqual([1, 0]);
});

test.each(["read", "cleared", "deleted", "muted"])(
  "a message that is %s in the foreground notifies no other device",
  async (how) => {
    const { ana, ben, id, phone } = await withForegroundDevice();
    await sendTexts(ana, id, "un");
    await waitForUnread(ben, id, 1);
    if (how === "read") await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 });
    if (how === "cleared") await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: true });
    if (how === "deleted") await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    if (how === "muted") await request(ben, { type: "mute", conversation: id, muted: true });
    else await waitForUnread(ben, id, 0);
    advanceClock(pushForegroundWaitMs + 1);
    await runAlarm(ben);
    await settle();
    expect(phone.requests).toBe(0);
  },
);

test("a message deleted before its push leaves the notification of the one before as it is", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.received.length === 1);
  await sendTexts(ana, id, "deux");
  await waitForUnread(ben, id, 2);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await waitForUnread(ben, id, 1);
  advanceClock(pushConversationPauseMs + 1);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(1);
  await sendTexts(ana, id, "trois");
  await waitUntil(() => phone.received.length === 2, 15_000);
  expect(bodies(phone)).toEqual(["un", "2 nouveaux messages\ntrois"]);
});

test.each([
  [["un"], 1, "Message supprimé"],
  [["un", "deux"], 2, "Nouveau message"],
] as const)(
  "of %j message %i is deleted, and its text leaves the notification of a closed device without a sound",
  async (sent, seq, body) => {
    const { ana, ben, id } = await makePair();
    const phone = await subscribe(ben);
    for (const [index, text] of sent.entries()) {
      await sendTexts(ana, id, text);
      advanceClock(pushConversationPauseMs + 1);
      await runAlarm(ben);
      await waitUntil(() => phone.received.length === index + 1);
    }
    await settle();
    await request(ana, { type: "deleteForEveryone", conversation: id, seq });
    await waitUntil(() => phone.received.length === sent.length + 1);
    const { payload } = phone.received.at(-1) as (typeof phone.received)[number];
    expect(payload.notification).toMatchObject({ body, tag: `c:${id}` });
    expect(payload.data).toMatchObject({ count: sent.length - 1, isAlerting: false });
    await settle();
    expect(phone.requests).toBe(sent.length + 1);
  },
);

test("a message that was read is deleted, and no device is notified", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.received.length === 1);
  await settle();
  await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 });
  await waitForUnread(ben, id, 0);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
  await waitUntil(async () => (await readRow(ben, id)).preview?.type === "deleted");
  await settle();
  expect(phone.requests).toBe(1);
});

test("an earlier message is deleted, and the notification of the newest one stays as it is", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  await sendTexts(ana, id, "un", "deux");
  await waitUntil(() => phone.received.length === 1);
  await settle();
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
  await waitForUnread(ben, id, 1);
  await settle();
  expect(phone.requests).toBe(1);
});

test("an overloaded push service is asked again when it said, and the device is notified once", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const isAccepted = phone.answer;
  phone.answer = () => new Response(null, { status: 429, headers: { "retry-after": "2" } });
  const sentAt = Date.now();
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  phone.answer = isAccepted;
  const { at } = await phone.next();
  expect(at - sentAt).toBeGreaterThanOrEqual(2_000);
  expect(at - sentAt).toBeLessThan(4_500); // sooner than without the header
  await settle();
  expect(phone.requests).toBe(2);
});

test.each([400, 403, 413])(
  "a push that is rejected (%i) is not repeated, and the next message is tried",
  async (status) => {
    const { ana, ben, id } = await makePair();
    const phone = await subscribe(ben);
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const isAccepted = phone.answer;
    phone.answer = () => new Response(null, { status });
    await sendTexts(ana, id, "un");
    await waitUntil(() => phone.requests === 1);
    await runAlarm(ben);
    await settle();
    expect(phone.requests).toBe(1);
    phone.answer = isAccepted;
    await sendTexts(ana, id, "deux");
    expect((await phone.next()).payload.data.count).toBe(2);
  },
);

test("a subscription that is unknown twice gets nothing more, and other devices are notified all the same", async () => {
  const { ana, ben, id } = await makePair();
  const [old, phone] = [await subscribe(ben), await subscribe(await makeOtherSession(ben))];
  old.answer = () => new Response(null, { status: 410 });
  advanceClock(0);
  await sendTexts(ana, id, "un");
  await phone.next();
  await waitUntil(() => old.requests === 1);
  await settle();
  advanceClock(120_000);
  await runAlarm(ben);
  await waitUntil(() => old.requests === 2);
  await settle();
  advanceClock(120_000);
  await sendTexts(ana, id, "deux");
  await phone.next(2);
  await settle();
  expect([old.requests, phone.requests]).toEqual([2, 2]);
});
