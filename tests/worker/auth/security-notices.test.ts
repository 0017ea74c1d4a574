import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, onTestFinished, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { createUuid } from "#contract/ids.ts";
import { factorResetHours, securityNoticesMax } from "#contract/limits/authentication.ts";
import { type Person, testPassword } from "#tests/support/people/people.ts";
import { Device, request, waitUntil } from "#tests/worker/support/device.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";
import {
  freezeClock,
  makePersonWithCodeApp,
  readSecurityEvents,
  resumeClock,
  signInPending,
} from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

const signIn = async (person: Person, userAgent = ""): Promise<Person> => {
  const { body } = await call("POST", "/api/auth/token?grant_type=password", {
    headers: { "user-agent": userAgent },
    body: { phone: person.phone, password: testPassword },
  });
  return { ...person, token: (body as Session).access_token };
};
const warn = async (person: Person, more: Partial<SecurityNotice> = {}): Promise<SecurityNotice> => {
  const now = Date.now();
  const notice = { id: createUuid(now), event: "factor_added", at: now, session: null, device: "", ...more } as const;
  await env.USER_CHANNEL.getByName(person.id).addSecurityNotice(notice);
  return notice;
};
const noticesOf = async (person: Person, since = 0) =>
  (await request(person, { type: "changes", since })).notices.map(({ event }) => event);
const counterOf = async (person: Person) => (await request(person, { type: "changes", since: 0 })).counter;

test("a new sign-in is reported to the connected devices, with its name, and not to itself", async () => {
  const ana = await makePerson();
  const here = await Device.open(ana);
  const other = await signIn(ana, "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0");
  const [, , notice] = await here.nextOf("z");
  expect(notice).toMatchObject({ event: "signed_in", device: "Firefox · Android" });
  expect(await noticesOf(other)).toEqual([]);
  const there = await Device.open(other);
  expect(await request(ana, { type: "changes", since: 0 })).toMatchObject({ notices: [{ event: "signed_in" }] });
  here.close();
  there.close();
});

test("a session that ended because its refresh token was used twice is reported to the other devices by its name, once", async () => {
  const ana = await makePerson();
  const { body } = await call("POST", "/api/auth/token?grant_type=password", {
    headers: { "user-agent": "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0" },
    body: { phone: ana.phone, password: testPassword },
  });
  await waitUntil(async () => (await noticesOf(ana)).length === 1);
  const since = await counterOf(ana);
  const refresh = (refresh_token: string) =>
    call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });
  const { refresh_token: first } = body as Session;
  const { refresh_token: second } = (await refresh(first)).body as Session;
  await refresh(second);
  for (const refusal of ["refresh_token_already_used", "refresh_token_not_found"]) {
    expect(await refresh(first)).toMatchObject({ status: 400, body: { error_code: refusal } });
  }
  await waitUntil(async () => (await noticesOf(ana, since)).length > 0);
  const { notices } = await request(ana, { type: "changes", since });
  expect(notices).toMatchObject([{ event: "session_reused", device: "Firefox · Android" }]);
});

test("an attacker with only the password cannot displace the owner's notices by reusing tokens", async () => {
  freezeClock();
  onTestFinished(resumeClock);
  const ana = await makePersonWithCodeApp();
  const before = await readSecurityEvents(ana.id);
  const half = await signInPending(ana);
  const refresh = (refresh_token: string) =>
    callWith({}, "POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });
  const { refresh_token: second } = (await refresh(half.refresh_token)).body as Session;
  await refresh(second);
  expect(await refresh(half.refresh_token)).toMatchObject({ body: { error_code: "refresh_token_already_used" } });
  expect(await readSecurityEvents(ana.id)).toEqual(before);
});

test("the device that made the change only receives the counter, so that it misses none", async () => {
  const ana = await makePerson();
  const other = await signIn(ana);
  await waitUntil(async () => (await noticesOf(ana)).length === 1);
  const [here, there] = [await Device.open(ana), await Device.open(other)];
  const changed = await call("PUT", "/api/auth/user", { token: other.token, body: { password: "Makutano2027" } });
  expect(changed.status).toBe(200);
  const own = await there.nextOf("z");
  expect(own[2]).toBeNull();
  expect(await there.waitForPong()).toBe(`.${(own[1] + there.base - (there.base % 16)).toString(36)}`);
  here.close();
  there.close();
});

test("a device that was offline is notified once, when it returns", async () => {
  const ana = await makePerson();
  const before = await counterOf(ana);
  await warn(ana);
  const device = await Device.attach(ana);
  const epoch = (await request(ana, { type: "changes", since: 0 })).epoch;
  const welcome = await device.hello(epoch, before);
  expect(welcome[10].map(({ event }) => event)).toEqual(["factor_added"]);
  const counter = welcome[3];
  device.close();
  const again = await Device.attach(ana);
  expect((await again.hello(epoch, counter))[10]).toEqual([]);
  again.close();
  expect(await noticesOf(ana, before)).toEqual(["factor_added"]);
  expect(await noticesOf(ana, counter)).toEqual([]);
});

test("a device does not receive notices from before its sign-in, except of a pending reset", async () => {
  const ana = await makePerson();
  const due_at = Date.now() + factorResetHours * 3_600_000;
  const long = Date.now() - 60_000;
  await warn(ana, { event: "reset_started", at: long - 2, due_at });
  await warn(ana, { event: "reset_cancelled", at: long - 1 });
  await warn(ana, { event: "factor_added", at: long });
  await warn(ana, { event: "reset_started", at: long + 1, due_at });
  expect(await noticesOf(ana)).toEqual(["reset_started"]);
  await warn(ana, { event: "reset_cancelled" });
  expect(await noticesOf(ana)).toEqual(["reset_cancelled"]);
});

test("notices survive a restart of the object, arrive once however often they are pushed, and the oldest are dropped", async () => {
  const ana = await makePerson();
  const first = await warn(ana);
  const counter = await counterOf(ana);
  await env.USER_CHANNEL.getByName(ana.id).addSecurityNotice(first);
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  expect(await noticesOf(ana)).toEqual(["factor_added"]);
  expect(await counterOf(ana)).toBeGreaterThanOrEqual(counter);
  expect(await noticesOf(ana, await counterOf(ana))).toEqual([]);
  for (let n = 0; n < securityNoticesMax; n++) await warn(ana, { event: "passkey_added" });
  expect(await noticesOf(ana)).toEqual(Array.from({ length: securityNoticesMax }, () => "passkey_added"));
});

test("a notice without a connected device is delivered once, however often the object restarted since", async () => {
  const ana = await makePerson();
  await warn(ana);
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  const { counter, notices } = await request(ana, { type: "changes", since: 0 });
  expect(notices).toHaveLength(1);
  expect(await noticesOf(ana, counter)).toEqual([]);
});
