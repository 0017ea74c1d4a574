import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ApiError } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { pushSubscriptionsMax } from "#contract/limits/push.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, waitUntil } from "#tests/worker/support/device.ts";
import { type seedPerson as seed, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket, refillBuckets, site } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { createSessionRow } from "#worker/auth/sessions/sessions.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { addDevice, settle, startPushServices } from "./push-fixture.ts";
import { makeOtherSession, PushDevice } from "./push-service.ts";

type Seeded = Awaited<ReturnType<typeof seed>>;

startPushServices();
const makeDevice = async (host?: string): Promise<PushDevice> => {
  const device = await PushDevice.create(host);
  addDevice(device);
  return device;
};

const sendTest = ({ token }: Person) => call("POST", "/api/push/test", { token });
const expectNotSubscribed = async (person: Person) => {
  const { status, body } = await sendTest(person);
  expect([status, (body as ApiError).error_code]).toEqual([404, "push_not_subscribed"]);
};
const codeOf = async (person: Person, body: unknown) => {
  const answer = await call("PUT", "/api/push/subscription", { token: person.token, body });
  return [answer.status, (answer.body as ApiError | undefined)?.error_code];
};
const countStored = (user: Uuid) =>
  runInDurableObject(
    env.USER_CHANNEL.getByName(user),
    (_, { storage }) => storage.sql.exec("SELECT session FROM push_subscriptions").toArray().length,
  );
const countDirectoryRows = async (session: Uuid) =>
  (await env.DB.prepare("SELECT 1 FROM push_endpoints WHERE session_id = ?").bind(session).all()).results.length;

test("a subscribed device receives the test push that its person asks for, and no other device does", async () => {
  const ana = await seedPerson();
  const [phone, laptop] = [await makeDevice(), await makeDevice("web.push.apple.com")];
  const second = await makeOtherSession(ana);
  expect(await phone.subscribe(ana)).toBe(204);
  expect(await laptop.subscribe(second, { language: "pt" })).toBe(204);
  const sent = await sendTest(ana);
  expect([sent.status, sent.body]).toEqual([202, { status: "sent" }]);
  expect(laptop.received).toHaveLength(0);
  const { payload, headers, bytes } = await phone.next();
  expect(payload).toEqual({
    web_push: 8030,
    notification: {
      title: "Lisolo",
      body: "Les notifications arrivent sur cet appareil.",
      navigate: "https://lisolo.test/app/notifications",
      tag: "test",
      lang: "fr",
      dir: "auto",
    },
    mutable: true,
    data: { kind: "test", user: ana.id, count: 0, sentAt: expect.any(Number), isAlerting: true },
  });
  expect(bytes).toBeLessThan(800);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-encoding": "aes128gcm",
    ttl: "60",
    urgency: "high",
    authorization: expect.stringMatching(/^vapid t=[\w.-]+, k=[\w-]{87}$/),
  });
  await sendTest(second);
  expect((await laptop.next()).payload.notification.lang).toBe("pt");
});

test("a device whose subscription was made with a former key is told so when it connects, until it subscribes again", async () => {
  const ana = await seedPerson();
  const phone = await makeDevice();
  await phone.subscribe(ana);
  const channel = env.USER_CHANNEL.getByName(ana.id);
  await runInDurableObject(channel, (_, { storage }) =>
    storage.sql.exec("UPDATE push_subscriptions SET key = ?", phone.p256dh),
  );
  await evictDurableObject(channel);
  const hasKeyFrame = (device: Device) => device.raw.includes(JSON.stringify(["k"]));
  const [other, former] = [await Device.open(await makeOtherSession(ana)), await Device.open(ana)];
  await waitUntil(() => hasKeyFrame(former));
  await phone.subscribe(ana);
  const renewed = await Device.open(ana);
  await settle();
  expect([hasKeyFrame(other), hasKeyFrame(renewed)]).toEqual([false, false]);
});

test("the key is that of the server, and without one nothing is offered", async () => {
  const ana = await seedPerson();
  const { status, body } = await call("GET", "/api/push/key", { token: ana.token });
  expect([status, body]).toEqual([200, { key: expect.stringMatching(/^B[\w-]{86}$/) }]);
  const device = await makeDevice();
  for (const [method, path, sent] of [
    ["GET", "/api/push/key", undefined],
    ["PUT", "/api/push/subscription", await device.createBody()],
    ["POST", "/api/push/test", undefined],
  ] as const) {
    const options = { token: ana.token, ...(sent ? { body: sent } : {}) };
    const answer = await callWith({ VAPID_PRIVATE_JWK: "" }, method, path, options);
    expect([answer.status, (answer.body as ApiError).error_code]).toEqual([501, "push_unavailable"]);
  }
});

test("endpoints outside the list and malformed keys are refused, and nothing is stored", async () => {
  const ana = await seedPerson();
  const good = await (await makeDevice()).createBody();
  for (const endpoint of [
    "https://169.254.169.254/latest",
    "https://localhost/",
    "https://fcm.googleapis.com.evil.example/",
    "https://user@fcm.googleapis.com/",
    "https://fcm.googleapis.com:444/",
    "http://fcm.googleapis.com/",
    "https://evil.example/",
    `https://fcm.googleapis.com/${"x".repeat(1_000)}`,
    "",
    7,
  ])
    expect(await codeOf(ana, { ...good, endpoint }), `${endpoint}`).toEqual([422, "push_endpoint_refused"]);
  for (const change of [
    { p256dh: "" },
    { p256dh: `${good.p256dh}A` },
    { p256dh: `B${"A".repeat(86)}` }, // not on the curve
    { auth: good.auth.slice(1) },
    { auth: `${good.auth}==` },
    { key: (await makeDevice()).p256dh }, // not the server's
    { language: "ln" },
    { origin: "https://evil.example" },
  ])
    expect(await codeOf(ana, { ...good, ...change }), JSON.stringify(change)).toEqual([400, "invalid_input"]);
  expect(await countStored(ana.id)).toBe(0);
  expect(await countDirectoryRows(ana.session)).toBe(0);
});

test("a session has one subscription: a new one replaces the former, and saving it again changes nothing", async () => {
  const ana = await seedPerson();
  const [before, after] = [await makeDevice(), await makeDevice()];
  await before.subscribe(ana);
  await after.subscribe(ana);
  await after.subscribe(ana);
  await sendTest(ana);
  expect([before.requests, after.requests, await countStored(ana.id)]).toEqual([0, 1, 1]);
  expect(await countDirectoryRows(ana.session)).toBe(1);
});

test("an endpoint serves one account: saved for another one, the first no longer has it", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const phone = await makeDevice();
  await phone.subscribe(ana);
  await phone.subscribe(ben);
  await expectNotSubscribed(ana);
  expect(await countStored(ana.id)).toBe(0);
  expect((await sendTest(ben)).body).toEqual({ status: "sent" });
  expect((await phone.next()).payload.data.user).toBe(ben.id);
});

test("a former account's channel that cannot be reached pushes nothing to the device of the next one", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const phone = await makeDevice();
  await phone.subscribe(ana);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const removePushSubscription = () => Promise.reject(new Error("unreachable"));
  const USER_CHANNEL = overrideMethods(env.USER_CHANNEL, (name) => (name === ana.id ? { removePushSubscription } : {}));
  const options = { token: ben.token, body: await phone.createBody() };
  expect((await callWith({ USER_CHANNEL }, "PUT", "/api/push/subscription", options)).status).toBe(204);
  expect(await countStored(ana.id)).toBe(1);
  expect((await sendTest(ana)).body).toEqual({ status: "gone" });
  expect(phone.requests).toBe(0);
  expect(await countStored(ana.id)).toBe(0);
});

test("more subscriptions than allowed replace the oldest", async () => {
  const ana = await seedPerson();
  const all = await Promise.all(Array.from({ length: pushSubscriptionsMax + 2 }, () => makeDevice()));
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  const sessions: Seeded[] = [];
  for (const device of all) {
    now += 1_000;
    // Sessions beyond the limit would end by themselves.
    const row = createSessionRow(ana.id, now);
    await env.DB.prepare("INSERT INTO sessions (id, user_id, nonce, refreshed_at, created_at) VALUES (?, ?, '', ?, ?)")
      .bind(row.id, ana.id, now, now)
      .run();
    const token = await signAccessToken(env, { sub: ana.id, sid: row.id, gen: 0 });
    sessions.push({ ...ana, session: row.id, token });
    expect(await device.subscribe(sessions.at(-1) as Seeded)).toBe(204);
  }
  expect(await countStored(ana.id)).toBe(pushSubscriptionsMax);
  const [first, second, third] = sessions as [Seeded, Seeded, Seeded];
  await expectNotSubscribed(first);
  await expectNotSubscribed(second);
  expect(await countDirectoryRows(first.session)).toBe(0);
  expect((await sendTest(third)).body).toEqual({ status: "sent" });
});

test("removing a subscription is idempotent and concerns this session only", async () => {
  const ana = await seedPerson();
  const second = await makeOtherSession(ana);
  await (await makeDevice()).subscribe(ana);
  await (await makeDevice()).subscribe(second);
  for (let n = 0; n < 2; n++) {
    expect((await call("DELETE", "/api/push/subscription", { token: ana.token })).status).toBe(204);
    await expectNotSubscribed(ana);
  }
  expect(await countDirectoryRows(ana.session)).toBe(0);
  expect((await sendTest(second)).body).toEqual({ status: "sent" });
});

test.each(["local", "others", "global"] as const)(
  "signing out (%s) removes the subscriptions of the ended sessions",
  async (scope) => {
    const ana = await seedPerson();
    const second = await makeOtherSession(ana);
    await (await makeDevice()).subscribe(ana);
    await (await makeDevice()).subscribe(second);
    expect((await call("POST", `/api/auth/logout?scope=${scope}`, { token: ana.token })).status).toBe(204);
    expect(await countStored(ana.id)).toBe(scope === "global" ? 0 : 1);
    expect(await countDirectoryRows(ana.session)).toBe(scope === "others" ? 1 : 0);
    expect(await countDirectoryRows(second.session)).toBe(scope === "local" ? 1 : 0);
  },
);

test("a session that ended while its channel could not be reached receives no push", async () => {
  const ana = await seedPerson();
  const phone = await makeDevice();
  await phone.subscribe(ana);
  await env.DB.prepare("DELETE FROM sessions WHERE id = ?").bind(ana.session).run();
  const channel = env.USER_CHANNEL.getByName(ana.id);
  expect(await channel.sendTestPush(ana.session)).toEqual({ status: "gone" });
  expect([phone.requests, await countStored(ana.id)]).toEqual([0, 0]);
});

test("deleting the account removes its subscriptions and saves no later ones", async () => {
  const ana = await seedPerson();
  const phone = await makeDevice();
  await phone.subscribe(ana);
  const channel = env.USER_CHANNEL.getByName(ana.id);
  expect((await call("DELETE", "/api/account", { token: ana.token, body: { user_id: ana.id } })).status).toBe(204);
  expect(
    await channel.savePushSubscription(ana.session, { ...(await phone.createBody()), origin: site.origin }),
  ).toEqual([]);
  await waitUntil(async () => (await countStored(ana.id)) === 0);
  expect(await countDirectoryRows(ana.session)).toBe(0);
  expect(await channel.sendTestPush(ana.session)).toBeNull();
});

test("subscribing and testing are limited", async () => {
  const ana = await seedPerson();
  const phone = await makeDevice();
  await phone.subscribe(ana);
  await drainBucket("push_test_by_user", ana.id);
  await drainBucket("push_subscription_by_user", ana.id);
  expect((await sendTest(ana)).status).toBe(429);
  expect(await phone.subscribe(ana)).toBe(429);
  expect(phone.requests).toBe(0);
  await refillBuckets("push_test_by_user");
  expect((await sendTest(ana)).status).toBe(202);
});
