import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { sendStallMs } from "#contract/limits/delivery.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { setLocalClock } from "#worker/lib/local-clock.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";
import { advanceClock, suspendAlarms } from "../support/clock.ts";
import { Device, readLog, sendTexts, waitUntil } from "../support/device.ts";
import { makePair } from "../support/seeded-people.ts";
import { signInWithProof } from "../support/sign-in.ts";
import { call, makePerson } from "../support/site.ts";

/** Server whose clock goes back by an hour, as when a machine's time is corrected. */

const hourMs = 3_600_000;
const setClock = (body: string) =>
  setLocalClock(new Request("http://localhost/dev/clock", { method: "PUT", body }) as never);
const setBack = () => setClock(String(Date.now() - hourMs));
const unreachable = () => Promise.reject(new Error("unreachable, as the test wants it"));

afterEach(async () => {
  vi.restoreAllMocks();
  await setClock("");
});

test("messages are stored, pushed and read in the order they were sent, and their times do not decrease", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  for (const n of [1, 2]) expect(await phoneA.waitForOutcome(phoneA.sendText(id, `m${n}`))).toMatchObject({ seq: n });
  await setBack();
  for (const n of [3, 4, 5])
    expect(await phoneA.waitForOutcome(phoneA.sendText(id, `m${n}`))).toMatchObject({ seq: n });
  await waitUntil(() => phoneB.seqs.length === 5);
  expect(phoneB.seqs).toEqual([1, 2, 3, 4, 5]);
  const log = await readLog(ben, id);
  expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  const times = log.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("a message that has to be sent again is not delayed by an hour", async () => {
  const { ana, id } = await makePair();
  const phone = await Device.open(ana);
  vi.spyOn(console, "error").mockImplementation(() => {});
  const down = vi.spyOn(Conversation.prototype, "sendMessages").mockImplementation(unreachable);
  expect(await phone.waitForOutcome(phone.sendText(id, "perdu"))).toMatchObject({ error: "unavailable" });
  down.mockRestore();
  expect(await phone.waitForOutcome(phone.sendText(id, "trop tôt"))).toMatchObject({ error: "unavailable" });
  advanceClock(-hourMs);
  expect(hourMs).toBeGreaterThan(sendStallMs);
  expect(await phone.waitForOutcome(phone.sendText(id, "après"))).toMatchObject({ seq: 1 });
});

test("a channel that was unreachable is notified of messages at the next try", async () => {
  suspendAlarms();
  const { ana, ben, id } = await makePair();
  const phoneB = await Device.open(ben);
  vi.spyOn(console, "error").mockImplementation(() => {});
  const deaf = vi.spyOn(UserChannel.prototype, "notify").mockImplementation(unreachable);
  await sendTexts(ana, id, "avant");
  await waitUntil(() => deaf.mock.calls.length > 0);
  deaf.mockRestore();
  advanceClock(-hourMs);
  await runDurableObjectAlarm(env.CONVERSATION.getByName(id));
  expect(await phoneB.nextLive()).toMatchObject({ seq: 1, text: "avant" });
});

test("an earlier token has a future date and is renewed, and its session continues", async () => {
  const person = await makePerson();
  const { body } = await call("POST", "/api/auth/token?grant_type=password", {
    body: { phone: person.phone, password: testPassword },
  });
  const before = body as Session;
  await setBack();
  const own = (token: string) => call("GET", "/api/auth/user", { token });
  expect(await own(before.access_token)).toMatchObject({ status: 401, body: { error_code: "bad_jwt" } });
  const renewed = await call("POST", "/api/auth/token?grant_type=refresh_token", {
    body: { refresh_token: before.refresh_token },
  });
  expect(renewed.status).toBe(200);
  expect((await own((renewed.body as Session).access_token)).status).toBe(200);
});

test("a person who signs in on an eleventh device is signed in there", async () => {
  const person = await makePerson();
  for (let n = 1; n <= 9; n++) await insertSession(openDb(env), createSessionRow(person.id, Date.now()));
  await setBack();
  // All tests of this runtime share the limit of passwords without a proof of work.
  const { answer } = await signInWithProof(person.phone, testPassword);
  expect(answer).toMatchObject({ status: 200 });
  expect((await call("GET", "/api/auth/user", { token: (answer.body as Session).access_token })).status).toBe(200);
});
