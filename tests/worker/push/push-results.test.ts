import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { inspect } from "node:util";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { beforeEach, expect, test, vi } from "vitest";
import { deletedUserId } from "#contract/ids.ts";
import { pushGoneRetryMs, pushTestLifetimeSeconds, pushTimeoutMs } from "#contract/limits/push.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, refillBuckets } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { sendPush } from "#worker/lib/push/push-sender.ts";
import { PushDevice, servePushes } from "./push-service.ts";

const subscribe = async () => {
  const [ana, phone] = [await seedPerson(), await PushDevice.create()];
  const addresses = servePushes(() => [phone]);
  expect(await phone.subscribe(ana)).toBe(204);
  const sendTest = async () => {
    await refillBuckets("push_test_by_user");
    return (await call("POST", "/api/push/test", { token: ana.token })).body;
  };
  const countStored = () =>
    runInDurableObject(
      env.USER_CHANNEL.getByName(ana.id),
      (_, { storage }) => storage.sql.exec("SELECT 1 FROM push_subscriptions").toArray().length,
    );
  return { ana, phone, addresses, sendTest, countStored };
};

let written: string[];
beforeEach(() => {
  written = [];
  for (const level of ["debug", "log", "info", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => {
      written.push(parts.map((part) => inspect(part, { depth: 10 })).join(" "));
    });
});

const payload = {
  web_push: 8030,
  notification: { title: "", body: "", navigate: "https://lisolo.test/", tag: "test", lang: "fr", dir: "auto" },
  mutable: true,
  data: { kind: "test", user: deletedUserId, count: 0, sentAt: 0, isAlerting: true },
} as const;

test.each([
  [200, {}, { type: "delivered" }],
  [201, {}, { type: "delivered" }],
  [202, {}, { type: "delivered" }],
  [404, {}, { type: "gone" }],
  [410, {}, { type: "gone" }],
  [429, { "retry-after": "120" }, { type: "retry", afterMs: 120_000 }],
  [429, {}, { type: "retry", afterMs: undefined }],
  [429, { "retry-after": "soon" }, { type: "retry", afterMs: undefined }],
  [429, { "retry-after": "-5" }, { type: "retry", afterMs: undefined }],
  [429, { "retry-after": "99999999" }, { type: "retry", afterMs: 6 * 3_600_000 }],
  [503, { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" }, { type: "retry", afterMs: 6 * 3_600_000 }],
  [500, {}, { type: "retry", afterMs: undefined }],
  [502, {}, { type: "retry", afterMs: undefined }],
  [400, {}, { type: "rejected" }],
  [401, {}, { type: "rejected" }],
  [403, {}, { type: "rejected" }],
  [413, {}, { type: "rejected" }],
  [301, { location: "https://evil.example/" }, { type: "rejected" }],
  [307, { location: "http://127.0.0.1/" }, { type: "rejected" }],
] as const)("status %i with %j of a push service means %j", async (status, headers, expected) => {
  const phone = await PushDevice.create();
  const addresses = servePushes(() => [phone]);
  phone.answer = () => new Response(status === 400 ? "who knows" : null, { status, headers });
  const target = { endpoint: phone.endpoint, p256dh: phone.p256dh, auth: phone.auth, origin: "https://lisolo.test" };
  const options = { lifetimeSeconds: pushTestLifetimeSeconds };
  expect(await sendPush(env, target, payload, options)).toEqual(expected);
  expect(addresses).toHaveLength(1); // no redirect is followed
});

test("a push service that does not answer in time, or cannot be reached, is tried again", async () => {
  const phone = await PushDevice.create();
  servePushes(() => [phone]);
  const target = { endpoint: phone.endpoint, p256dh: phone.p256dh, auth: phone.auth, origin: "https://lisolo.test" };
  phone.answer = undefined;
  const asked: number[] = [];
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    asked.push(ms);
    return AbortSignal.abort(new DOMException("too late", "TimeoutError"));
  });
  const send = () => sendPush(env, target, payload, { lifetimeSeconds: pushTestLifetimeSeconds });
  expect(await send()).toEqual({ type: "retry", afterMs: undefined });
  expect(asked).toEqual([pushTimeoutMs]);
  phone.answer = () => {
    throw new TypeError(`cannot connect to ${phone.endpoint}`);
  };
  expect(await send()).toEqual({ type: "retry", afterMs: undefined });
  expect(written.join()).not.toContain(new URL(phone.endpoint).pathname);
});

test("an endpoint that is not allowed any more receives nothing", async () => {
  const phone = await PushDevice.create();
  const addresses = servePushes(() => [phone]);
  const target = { endpoint: phone.endpoint, p256dh: phone.p256dh, auth: phone.auth, origin: "https://lisolo.test" };
  const options = { lifetimeSeconds: pushTestLifetimeSeconds };
  for (const endpoint of ["https://evil.example/fcm", phone.endpoint.replace("https:", "http:")])
    expect(await sendPush(env, { ...target, endpoint }, payload, options)).toEqual({ type: "rejected" });
  expect(await sendPush({ ...env, PUSH_SERVICES: "*.push.apple.com" }, target, payload, options)).toEqual({
    type: "rejected",
  });
  expect(addresses).toEqual([]);
});

test("the request identifies the server to the push service of the endpoint, not to the one of the local build", async () => {
  const { phone, addresses, sendTest } = await subscribe();
  expect(await sendTest()).toEqual({ status: "sent" });
  expect(addresses).toEqual([`http://127.0.0.1:9${new URL(phone.endpoint).pathname}`]);
  const { headers } = await phone.next();
  const token = /t=([^,]+)/.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  const { d: _, ...publicJwk } = JSON.parse(env.VAPID_PRIVATE_JWK);
  expect(decodeProtectedHeader(token).alg).toBe("ES256");
  const { payload: claims } = await jwtVerify(token, await importJWK(publicJwk, "ES256"));
  expect(claims).toMatchObject({ aud: "https://fcm.googleapis.com", sub: "https://lisolo.test" });
});

test("an unknown subscription is deleted when it is still unknown after a minute", async () => {
  const { phone, sendTest, countStored } = await subscribe();
  phone.answer = () => new Response(null, { status: 410 });
  advanceClock(0); // stops it
  expect(await sendTest()).toEqual({ status: "gone" });
  expect(await countStored()).toBe(1);
  advanceClock(pushGoneRetryMs - 1);
  expect(await sendTest()).toEqual({ status: "gone" });
  expect(await countStored()).toBe(1);
  advanceClock(1);
  expect(await sendTest()).toEqual({ status: "gone" });
  expect(await countStored()).toBe(0);
  expect(phone.requests).toBe(3);
});

test("a subscription that was unknown at first and is known later stays", async () => {
  const { phone, sendTest, countStored } = await subscribe();
  const isKnown = phone.answer;
  phone.answer = () => new Response(null, { status: 404 });
  await sendTest();
  phone.answer = isKnown;
  expect(await sendTest()).toEqual({ status: "sent" });
  phone.answer = () => new Response(null, { status: 404 });
  advanceClock(2 * pushGoneRetryMs);
  expect(await sendTest()).toEqual({ status: "gone" });
  expect(await countStored()).toBe(1);
});

test.each([429, 500, 403])(
  "after status %i the subscription stays, and the person learns that it failed",
  async (status) => {
    const { phone, sendTest, countStored } = await subscribe();
    phone.answer = () => new Response(null, { status });
    expect(await sendTest()).toEqual({ status: "failed" });
    advanceClock(2 * pushGoneRetryMs);
    expect(await sendTest()).toEqual({ status: "failed" });
    expect(await countStored()).toBe(1);
  },
);

test("no log entry and no answer contains an endpoint or a key of a device", async () => {
  const { ana, phone, sendTest } = await subscribe();
  const answers: unknown[] = [];
  for (const status of [201, 403, 429, 500, 410]) {
    phone.answer = () => new Response(phone.endpoint, { status });
    answers.push(await sendTest());
  }
  phone.answer = () => {
    throw new Error(`cannot reach ${phone.endpoint}`);
  };
  answers.push(await sendTest());
  const failing = { prepare: () => ({ bind: () => ({ raw: () => Promise.reject(new Error("D1_ERROR")) }) }) };
  const body = await phone.createBody({ endpoint: `${phone.endpoint}x` });
  answers.push((await callWith({ DB: failing }, "PUT", "/api/push/subscription", { token: ana.token, body })).body);
  for (const path of ["/api/auth/sessions", "/api/auth/security", "/api/settings", "/api/sync?since=0"])
    answers.push((await call("GET", path, { token: ana.token })).body);
  expect(written.join()).toContain("fcm.googleapis.com: status 403");
  const everything = written.join() + JSON.stringify(answers);
  for (const secret of [new URL(phone.endpoint).pathname, phone.p256dh, phone.auth])
    expect(everything).not.toContain(secret);
});
