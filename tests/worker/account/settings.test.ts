import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { exceptionsMax } from "#contract/limits/people.ts";
import { defaultSettings, type SettingsChange, type VersionedSettings } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket, makePerson } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { counterReserve } from "#worker/objects/user-channel/inbox/change-sequence.ts";

const settingsOf = async (person: Person) =>
  (await call("GET", "/api/settings", { token: person.token })).body as VersionedSettings;
const patch = (person: Person, body: object) => call("PATCH", "/api/settings", { token: person.token, body });
const change = async (person: Person, changed: SettingsChange) => {
  const { status, body } = await patch(person, changed);
  if (status !== 200) throw new Error(`the settings were not changed: ${JSON.stringify(body)}`);
  return body as VersionedSettings;
};
const toldVersion = (person: Person) =>
  env.DB.prepare("SELECT told_version FROM settings WHERE user_id = ?").bind(person.id).first("told_version");

test("a person who never changed anything has the default settings and no row", async () => {
  const ana = await makePerson();
  expect(await settingsOf(ana)).toEqual({ version: 0, settings: defaultSettings });
  expect(await env.DB.prepare("SELECT * FROM settings WHERE user_id = ?").bind(ana.id).first()).toBeNull();
});

test("a change applies to the named settings of one person only", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  expect(await change(ana, { receipts: false })).toEqual({
    version: 1,
    settings: { ...defaultSettings, receipts: false },
  });
  const groups = { sound: false, preview: "text" } as const;
  expect(await change(ana, { groups, tala: false, findable: "whole" })).toEqual({
    version: 2,
    settings: { ...defaultSettings, receipts: false, groups, tala: false, findable: "whole" },
  });
  expect((await settingsOf(ana)).settings).toMatchObject({
    receipts: false,
    groups,
    messages: defaultSettings.messages,
  });
  expect(await settingsOf(ben)).toEqual({ version: 0, settings: defaultSettings });
});

test("simultaneous changes do not overwrite each other", async () => {
  const ana = await makePerson();
  const calls = { sound: false };
  const messages = { sound: true, preview: "name" } as const;
  const changes = [
    ...[{ receipts: false }, { presence: false }, { hidesAddress: true }, { messages }, { calls }],
    ...[{ findable: "nobody" } as const, { reactions: false }],
  ] as const;
  await Promise.all(changes.map((one) => change(ana, one)));
  const wanted = {
    receipts: false,
    presence: false,
    hidesAddress: true,
    messages,
    calls,
    findable: "nobody",
    reactions: false,
  };
  expect(await settingsOf(ana)).toEqual({ version: 7, settings: { ...defaultSettings, ...wanted } });
});

test("a change of exceptions replaces those of the named settings only", async () => {
  const ana = await makePerson();
  const [ben, cleo, dan] = [createUuid(), createUuid(), createUuid()];
  await change(ana, { callsFrom: "contacts_except", exceptions: { callsFrom: [ben, cleo], presence: [ben] } });
  await Promise.all([
    change(ana, { exceptions: { pictureTo: [dan] } }),
    change(ana, { exceptions: { presence: [] }, statusesTo: "contacts_except" }),
  ]);
  const exceptions = { callsFrom: [ben, cleo], presence: [], pictureTo: [dan] };
  const wanted = { callsFrom: "contacts_except", statusesTo: "contacts_except", exceptions } as const;
  expect(await settingsOf(ana)).toEqual({ version: 3, settings: { ...defaultSettings, ...wanted } });
  expect(await request(ana, { type: "changes", since: 0 })).toMatchObject({ settings: await settingsOf(ana) });
});

test.each([
  { exceptions: { receipts: [] } },
  { exceptions: { callsFrom: ["somebody"] } },
  { exceptions: { callsFrom: Array.from({ length: exceptionsMax + 1 }, () => createUuid()) } },
  { receipts: "no" },
  { findable: "friends" },
  { messages: { sound: true } },
  { calls: { sound: true, preview: "text" } },
  { user_id: "01900000-0000-7000-8000-000000000000", receipts: false },
  { version: 9 },
])("an invalid change of settings is refused: %j", async (body) => {
  const ana = await makePerson();
  expect(await patch(ana, body)).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
  expect(await settingsOf(ana)).toEqual({ version: 0, settings: defaultSettings });
});

test("changes over the rate limit are refused with the time to wait", async () => {
  const ana = await makePerson();
  await drainBucket("settings_by_user", ana.id);
  expect(await patch(ana, { tala: false })).toMatchObject({ status: 429 });
});

test("all devices of the person, and no others, receive a change under the next counter", async () => {
  const { ana, ben, id } = await makePair();
  const [phone, desk, other] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const before = Math.max(phone.base, ...phone.counters);
  const kept = await change(ana, { presence: false });
  for (const device of [phone, desk]) expect((await device.nextOf("s"))[2]).toEqual(kept);
  expect(Math.max(...phone.counters)).toBe(before + 1);
  await sendTexts(ana, id, "après");
  await other.nextLive();
  expect(other.raw.filter((raw) => raw.startsWith('["s"'))).toEqual([]);
});

test("a device that was offline receives them in its welcome, one that was online does not receive them again, also after a restart", async () => {
  const ana = await seedPerson();
  const phone = await Device.open(ana);
  const kept = await change(ana, { tala: false });
  await phone.nextOf("s");
  const counter = Math.max(...phone.counters);
  const welcomeOf = async (epoch: string, from: number) => {
    const device = await Device.attach(ana);
    return (await device.hello(epoch, from))[9];
  };
  const hear = async () => [
    await welcomeOf("", 0),
    await welcomeOf(phone.epoch, counter - 1),
    await welcomeOf(phone.epoch, counter),
  ];
  expect(await hear()).toEqual([kept, kept, null]);
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id));
  expect(await hear()).toEqual([kept, kept, null]);
  expect(await request(ana, { type: "changes", since: 0 })).toMatchObject({ settings: kept });
  expect(await request(ana, { type: "changes", since: counter })).toMatchObject({ settings: null });
});

test("a change that could not be pushed applies, is not acknowledged, and is pushed before the next socket", async () => {
  const ana = await seedPerson();
  const USER_CHANNEL = overrideMethods(env.USER_CHANNEL, {
    updateSettings: async () => {
      throw new Error("the channel is not there");
    },
  });
  const answer = await callWith({ USER_CHANNEL }, "PATCH", "/api/settings", {
    token: ana.token,
    body: { receipts: false },
  });
  expect(answer).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  expect(await settingsOf(ana)).toMatchObject({ version: 1, settings: { receipts: false } });
  expect(await toldVersion(ana)).toBe(0);
  const device = await Device.attach(ana);
  expect((await device.hello())[9]).toEqual(await settingsOf(ana));
  expect(await toldVersion(ana)).toBe(1);
});

test("a change that could not be pushed and is repeated applies", async () => {
  const ana = await seedPerson();
  const USER_CHANNEL = overrideMethods(env.USER_CHANNEL, {
    updateSettings: async () => {
      throw new Error("the channel is not there");
    },
  });
  await callWith({ USER_CHANNEL }, "PATCH", "/api/settings", { token: ana.token, body: { tala: false } });
  expect(await change(ana, { tala: false })).toMatchObject({ version: 2, settings: { tala: false } });
  expect(await toldVersion(ana)).toBe(2);
});

test("a late notice does not undo a newer one", async () => {
  const ana = await seedPerson();
  await change(ana, { receipts: false });
  const newest = await change(ana, { presence: false });
  await env.USER_CHANNEL.getByName(ana.id).updateSettings({ version: 1, settings: defaultSettings });
  const device = await Device.attach(ana);
  expect((await device.hello())[9]).toEqual(newest);
});

test("the counter of a change is pushed once, however many changes there were, also after a restart", async () => {
  const ana = await seedPerson();
  const phone = await Device.open(ana);
  const channel = env.USER_CHANNEL.getByName(ana.id);
  const count = counterReserve + 100;
  for (let version = 1; version <= count; version++)
    await channel.updateSettings({ version, settings: defaultSettings });
  await waitUntil(() => phone.counters.length === count);
  const highestCounter = Math.max(...phone.counters);
  phone.close();
  await evictDurableObject(channel);
  await request(ana, { type: "changes", since: 0 });
  await channel.updateSettings({ version: count + 1, settings: { ...defaultSettings, tala: false } });
  const { counter, settings } = await request(ana, { type: "changes", since: highestCounter });
  expect(counter).toBeGreaterThan(highestCounter);
  expect(settings).toMatchObject({ version: count + 1 });
});
