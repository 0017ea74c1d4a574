import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { presenceBurst, presenceStaleMs, presenceWatchersMax } from "#contract/limits/people.ts";
import { defaultSettings, type Presence, type SettingsChange } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup } from "#tests/worker/support/make-group.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

afterEach(() => vi.restoreAllMocks());

const change = (person: Person, body: SettingsChange) => call("PATCH", "/api/settings", { token: person.token, body });
/** The request is answered before the blocking person's channel was notified; afterwards it knows. */
const block = async (by: Person, method: "PUT" | "DELETE", other: Person): Promise<void> => {
  await call(method, `/api/blocks/${other.id}`, { token: by.token });
  await waitUntil(async () => {
    const { people } = await request(by, { type: "changes", since: 0 });
    return people.find(({ profile }) => profile.id === other.id)?.blocked === (method === "PUT");
  });
};
const ask = (person: Person, conversation: string): Promise<Presence & { error?: string }> =>
  request(person, { type: "presence", conversation });

const here = { here: true, seen_at: null };
const nothing = { here: false, seen_at: null };

const channel = (person: Person) => env.USER_CHANNEL.getByName(person.id);

/** Device in the foreground, once the person's channel knows. */
const look = async (person: Person): Promise<Device> => {
  const device = await Device.open(person);
  await say(device, 1);
  return device;
};
const say = async (device: Device, isLooked: 0 | 1): Promise<void> => {
  device.send(["l", isLooked]);
  await device.request((ref) => ["c", ref, device.base, null]); // answered after it
};
const leave = async (device: Device, person: Person): Promise<void> => {
  const before = await countSockets(person);
  device.close();
  await waitUntil(async () => (await countSockets(person)) < before);
};
const countTurns = ({ frames }: Device): number =>
  frames.filter((frame) => Array.isArray(frame) && frame[0] === "l").length;
const countSockets = (person: Person) =>
  runInDurableObject(channel(person), (_, state) => state.getWebSockets().length);

test("a contact is online while a device of theirs is in the foreground, by frame and by HTTP", async () => {
  const { ana, ben, id } = await makePair();
  expect(await ask(ana, id)).toEqual(nothing);
  const phone = await look(ben);
  expect(await ask(ana, id)).toEqual(here);
  const anas = await Device.open(ana);
  expect((await anas.request((ref) => ["L", ref, id])).slice(2)).toEqual([1, null]);
  const desk = await look(ben);
  await say(phone, 0);
  expect(await ask(ana, id)).toEqual(here);
  const before = Date.now();
  await say(desk, 0);
  const { here: isHere, seen_at } = await ask(ana, id);
  expect(isHere).toBe(false);
  // Rounded to the minute.
  expect((seen_at ?? 1) % 60_000).toBe(0);
  expect(seen_at).toBeGreaterThan(before - 60_000);
  expect(seen_at).toBeLessThanOrEqual(Date.now());
  const [, , inFrame, seenInFrame] = (await anas.request((ref) => ["L", ref, id])) as ["L", number, 0 | 1, number];
  expect([inFrame, seenInFrame + anas.now]).toEqual([0, seen_at]);
});

test("a device that is connected in the background makes nobody online", async () => {
  const { ana, ben, id } = await makePair();
  await Device.open(ben);
  expect(await ask(ana, id)).toEqual(nothing);
});

test("a person who goes offline was last seen then, also after a restart", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await look(ben);
  await leave(phone, ben);
  const gone = await ask(ana, id);
  expect(gone).toEqual({ here: false, seen_at: expect.any(Number) });
  await evictDurableObject(channel(ben));
  expect(await ask(ana, id)).toEqual(gone);
});

test("an online person stays online while their channel is evicted", async () => {
  const { ana, ben, id } = await makePair();
  await look(ben);
  await evictDurableObject(channel(ben));
  expect(await ask(ana, id)).toEqual(here);
});

test("a silent device is not online, and was last seen at its last frame", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await look(ben);
  const heardAt = Date.now();
  advanceClock(presenceStaleMs + 1_000);
  const { here: isHere, seen_at } = await ask(ana, id);
  expect(isHere).toBe(false);
  expect(seen_at).toBeLessThanOrEqual(heardAt);
  await leave(phone, ben);
  expect((await ask(ana, id)).seen_at).toBeLessThanOrEqual(heardAt);
});

test("a ping keeps a device online", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await Device.open(ben);
  advanceClock(-2 * presenceStaleMs);
  await say(phone, 1);
  vi.restoreAllMocks();
  expect((await ask(ana, id)).here).toBe(false);
  await phone.waitForPong();
  expect(await ask(ana, id)).toEqual(here);
});

test("a person who hides their presence is not shown, and sees nobody's", async () => {
  const { ana, ben, id } = await makePair();
  await look(ana);
  const bens = await look(ben);
  await change(ben, { presence: false });
  expect(await ask(ana, id)).toEqual(nothing);
  expect(await ask(ben, id)).toEqual(nothing);
  expect((await bens.request((ref) => ["L", ref, id])).slice(2)).toEqual([0, null]);
  await change(ben, { presence: true });
  expect(await ask(ana, id)).toEqual(here);
  expect(await ask(ben, id)).toEqual(here);
});

test("hiding presence and blocking make a person offline at once for watchers, and showing it online", async () => {
  const { ana, ben, id } = await makePair();
  const [looked, unlooked] = [await look(ana), await Device.open(ana)];
  const bens = await look(ben);
  const asked = async () => (await looked.request((ref) => ["L", ref, id])).slice(2);
  expect(await asked()).toEqual([1, null]);
  // Watchers are remembered while the channel hibernates.
  await evictDurableObject(channel(ben));
  for (const [presence, expected] of [
    [false, [0, null]],
    [true, [1, null]],
  ] as const) {
    await change(ben, { presence });
    expect(await looked.nextOf("l")).toEqual(["l"]);
    expect(await asked()).toEqual(expected);
  }
  // Other settings notify nobody, and neither does a change of visibility during a block.
  await change(ben, { receipts: false });
  await block(ben, "PUT", ana);
  expect(await looked.nextOf("l")).toEqual(["l"]);
  expect(await asked()).toEqual([0, null]);
  await change(ben, { presence: false });
  await block(ben, "DELETE", ana);
  await change(ben, { presence: true });
  expect(await looked.nextOf("l")).toEqual(["l"]);
  await looked.request((ref) => ["c", ref, looked.base, null]);
  expect([looked, unlooked, bens].map(countTurns)).toEqual([4, 0, 0]);
});

test("presence is hidden from an excepted contact in both directions, at once and as from everybody, and shown to others", async () => {
  const { ana, ben, id } = await makePair();
  const cleo = await seedPerson();
  const withCleo = await befriend(cleo, ben);
  const [anas, bens, cleos] = [await look(ana), await look(ben), await look(cleo)];
  const answers = async () => [
    await ask(ana, id),
    await ask(ben, id),
    await ask(cleo, withCleo),
    await ask(ben, withCleo),
  ];
  expect(await answers()).toEqual([here, here, here, here]);
  await evictDurableObject(channel(ben));
  await change(ben, { exceptions: { presence: [ana.id] } });
  expect(await anas.nextOf("l")).toEqual(["l"]);
  expect(await answers()).toEqual([nothing, nothing, here, here]);
  // The last-seen time is theirs who may see it.
  await say(bens, 0);
  expect([(await ask(ana, id)).seen_at, (await ask(cleo, withCleo)).seen_at]).toEqual([null, expect.any(Number)]);
  await say(bens, 1);
  // Hidden from everybody, nothing changes for the excepted contact; nor when it is shown again.
  await change(ben, { presence: false });
  await cleos.nextOf("l");
  await change(ben, { presence: true });
  await cleos.nextOf("l");
  expect(await answers()).toEqual([nothing, nothing, here, here]);
  await change(ben, { exceptions: { presence: [] } });
  expect(await anas.nextOf("l")).toEqual(["l"]);
  expect(await answers()).toEqual([here, here, here, here]);
  expect([anas, cleos].map(countTurns)).toEqual([2, 2]);
});

test("a person who comes online is shown at the next request, notifies nobody and costs no row", async () => {
  const { ana, ben, id } = await makePair();
  const anas = await look(ana);
  const countMetaRows = () =>
    runInDurableObject(channel(ben), (_, { storage }) => storage.sql.exec("SELECT count(*) AS rows FROM meta").one());
  const before = await countMetaRows();
  expect(await ask(ana, id)).toEqual(nothing);
  expect(await countMetaRows()).toEqual(before);
  await look(ben);
  expect(await ask(ana, id)).toEqual(here);
  await anas.request((ref) => ["c", ref, anas.base, null]);
  expect(countTurns(anas)).toBe(0);
});

test("a limited number of watchers is notified, the latest ones", async () => {
  const ben = await seedPerson();
  await look(ben);
  const others = [];
  for (let n = 0; n <= presenceWatchersMax; n++) {
    const other = await seedPerson();
    const id = await befriend(ben, other);
    others.push({ phone: await look(other), id });
    expect(await ask(other, id)).toEqual(here);
  }
  await change(ben, { presence: false });
  const [first, ...last] = others;
  for (const { phone } of last) expect(await phone.nextOf("l")).toEqual(["l"]);
  expect(first && countTurns(first.phone)).toBe(0);
});

test("only a contact's channel is notified of a change of visibility", async () => {
  const { ana, ben } = await makePair();
  const phone = await look(ana);
  const sam = await seedPerson();
  await channel(ana).notifyPresenceVisibility(sam.id);
  await channel(ana).notifyPresenceVisibility(ben.id);
  expect(await phone.nextOf("l")).toEqual(["l"]);
  await phone.request((ref) => ["c", ref, phone.base, null]);
  expect(countTurns(phone)).toBe(1);
});

test("the last-seen time of a person who hides it is not stored", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await look(ben);
  await say(phone, 0);
  expect((await ask(ana, id)).seen_at).not.toBeNull();
  await change(ben, { presence: false });
  await say(phone, 1);
  await say(phone, 0);
  const kept = () =>
    runInDurableObject(channel(ben), (_, { storage }) =>
      storage.sql.exec("SELECT value FROM meta WHERE key = 'seen'").toArray(),
    );
  expect(await kept()).toEqual([]);
  await change(ben, { presence: true });
  expect(await ask(ana, id)).toEqual(nothing);
});

test("a block ends it in both directions, and its end brings it back", async () => {
  const { ana, ben, id } = await makePair();
  await look(ana);
  await look(ben);
  await block(ben, "PUT", ana);
  expect(await ask(ana, id)).toEqual(nothing);
  expect(await ask(ben, id)).toEqual(nothing);
  await block(ben, "DELETE", ana);
  expect(await ask(ana, id)).toEqual(here);
  expect(await ask(ben, id)).toEqual(here);
});

test("a former contact sees no presence, and a stranger gets conversation_not_found", async () => {
  const { ana, ben, id } = await makePair();
  await look(ben);
  const sam = await seedPerson();
  const samsPhone = await Device.open(sam);
  for (const conversation of [id, [ben.id, sam.id].sort().join("."), createUuid()]) {
    expect(await ask(sam, conversation)).toEqual({ error: "conversation_not_found" });
    expect((await samsPhone.request((ref) => ["L", ref, conversation])).slice(2)).toEqual(["conversation_not_found"]);
  }
  await call("DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  await waitUntil(async () => !(await readRow(ana, id)).open);
  expect(await ask(ana, id)).toEqual(nothing);
});

test("a channel answers about presence to contacts only, whoever calls it", async () => {
  const { ana, ben, id } = await makePair();
  await look(ben);
  const [cid, sam] = [await seedPerson(), await seedPerson()];
  const withCid = await befriend(ben, cid);
  const getPresenceFor = (viewer: string, conversation: string) => channel(ben).getPresence(viewer, conversation);
  expect(await getPresenceFor(ana.id, id)).toEqual(here);
  expect(await getPresenceFor(sam.id, id)).toEqual(nothing);
  expect(await getPresenceFor(ana.id, withCid)).toEqual(nothing);
  expect(await getPresenceFor(sam.id, [ben.id, sam.id].sort().join("."))).toEqual(nothing);
});

test("groups have no presence", async () => {
  const { id, owner } = await makeSyncedGroup(3);
  expect(await ask(owner, id)).toEqual({ error: "conversation_not_found" });
});

test("too many presence requests are told to wait", async () => {
  const { ana, id } = await makePair();
  advanceClock(0); // the limit does not refill
  const answers = [];
  for (let n = 0; n < presenceBurst + 5; n++) answers.push((await ask(ana, id)).error);
  expect(answers.filter((error) => error === "rate_limited").length).toBeGreaterThan(0);
});

test("repeated visibility changes write one row", async () => {
  const { ana, ben, id } = await makePair();
  advanceClock(0);
  const phone = await look(ben);
  await say(phone, 0);
  const first = await ask(ana, id);
  for (let n = 0; n < 5; n++) {
    await say(phone, 1);
    await say(phone, 0);
  }
  expect(await ask(ana, id)).toEqual(first);
});

test("a malformed visibility frame is refused", async () => {
  const { ana } = await makePair();
  const phone = await Device.open(ana);
  phone.sendRaw('["l",2]');
  expect((await phone.nextOf("x"))[1]).toBe("malformed_frame");
  phone.sendRaw('["L",1,-5]');
  expect((await phone.nextOf("n"))[2]).toBe("malformed_frame");
});

test("a deleted account has no presence, and nothing is written when its devices disconnect", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await look(ben);
  const desk = await look(ben);
  const gone = await call("DELETE", "/api/account", { token: ben.token, body: { user_id: ben.id } });
  expect(gone.status).toBeLessThan(300);
  await Promise.all([phone.closed, desk.closed]);
  expect(await channel(ben).getPresence(ana.id, id)).toEqual(nothing);
  await channel(ben).updateSettings({ version: 9, settings: { ...defaultSettings, tala: false } });
  await runInDurableObject(channel(ben), (instance) => instance.onAlarm?.());
  const kept = await runInDurableObject(channel(ben), (_, { storage }) =>
    storage.sql.exec("SELECT key FROM meta").toArray(),
  );
  expect(kept).toEqual([{ key: "gone" }]);
});
