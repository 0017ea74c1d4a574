import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as v from "valibot";
import { expect, test } from "vitest";
import { ChangesResult, MuteList, MuteResult } from "#contract/wire/commands.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { settle, startPushServices, subscribe } from "./push-fixture.ts";

const hourSeconds = 3_600;
const shortSeconds = 300; // shorter than an access token lives
startPushServices();

const counterOf = async (person: { token: string }) =>
  v.parse(ChangesResult, (await call("GET", "/api/sync?since=0", { token: person.token })).body).counter;
const listMutes = async (person: { token: string }) =>
  v.parse(MuteList, (await call("GET", "/api/mutes", { token: person.token })).body).muted;

test("a conversation muted for a while notifies again afterwards, without a change of the inbox", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  advanceClock(0);
  const { until } = v.parse(
    MuteResult,
    (await call("PUT", `/api/mutes/${id}?seconds=${shortSeconds}`, { token: ben.token })).body,
  );
  expect(until).toBe(Math.ceil(Date.now() / 1_000 + shortSeconds) * 1_000);
  expect(await readRow(ben, id)).toMatchObject({ muted: true, mutedUntil: until });
  expect(await listMutes(ben)).toEqual([id]);
  await sendTexts(ana, id, "pendant");
  await waitUntil(async () => (await readRow(ben, id)).unread === 1);
  await settle();
  expect(phone.requests).toBe(0);
  const counter = await counterOf(ben);
  advanceClock((until ?? 0) - Date.now());
  expect(await readRow(ben, id)).toMatchObject({ muted: false, mutedUntil: null });
  expect(await listMutes(ben)).toEqual([]);
  expect(await counterOf(ben)).toBe(counter);
  await sendTexts(ana, id, "ensuite");
  expect((await phone.next()).payload.data.count).toBe(2);
});

test("an object that starts after a timed mute does not push what arrived during it", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  const cal = await seedPerson();
  const withCal = await befriend(ben, cal);
  advanceClock(0);
  await request(ben, { type: "mute", conversation: id, muted: true, seconds: shortSeconds });
  await sendTexts(ana, id, "pendant");
  await waitUntil(async () => (await readRow(ben, id)).unread === 1);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  advanceClock((shortSeconds + 1) * 1_000);
  await sendTexts(cal, withCal, "de Cal");
  await phone.next();
  await settle();
  expect(phone.received.map(({ payload }) => payload.notification.body)).toEqual(["de Cal"]);
});

test("a timed mute replaces one without an end, and the reverse; a device without seconds mutes without an end", async () => {
  const { ben, id } = await makePair();
  const ends = async () => {
    const { muted, mutedUntil } = await readRow(ben, id);
    return [muted, mutedUntil === null ? null : Math.round((mutedUntil - Date.now()) / 1_000 / hourSeconds)];
  };
  await request(ben, { type: "mute", conversation: id, muted: true });
  expect(await ends()).toEqual([true, null]);
  await request(ben, { type: "mute", conversation: id, muted: true, seconds: 8 * hourSeconds });
  expect(await ends()).toEqual([true, 8]);
  await request(ben, { type: "mute", conversation: id, muted: true, seconds: hourSeconds });
  expect(await ends()).toEqual([true, 1]);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await ends()).toEqual([true, 1]);
  await request(ben, { type: "mute", conversation: id, muted: true });
  expect(await ends()).toEqual([true, null]);
  await request(ben, { type: "mute", conversation: id, muted: false });
  expect(await ends()).toEqual([false, null]);
});

test.each(["0", "-1", "1.5", "99999999", "x"])("a mute for %s seconds is refused", async (seconds) => {
  const { ben, id } = await makePair();
  expect(await call("PUT", `/api/mutes/${id}?seconds=${seconds}`, { token: ben.token })).toMatchObject({ status: 400 });
  expect(await readRow(ben, id)).toMatchObject({ muted: false });
});
