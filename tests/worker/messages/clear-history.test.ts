import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

const clearHistory = (by: Person, conversation: string, upTo: number, keep: boolean) =>
  request(by, { type: "clearHistory", conversation, upTo, keep });
const isListed = async (by: Person): Promise<boolean> =>
  ((await call("GET", "/api/conversations", { token: by.token })).body as { rows: unknown[] }).rows.length > 0;

test("a message that arrives while a conversation is cleared or deleted stays, is listed and is unread", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "vu", "vu aussi", "arrivé entre-temps");
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  expect(await clearHistory(ben, id, 2, false)).toMatchObject({ hidden: 2 });
  expect(await readRow(ben, id)).toMatchObject({ hidden: 2, unread: 1, preview: { text: "arrivé entre-temps" } });
  expect(toTexts(await readLog(ben, id))).toEqual(["arrivé entre-temps"]);
  expect(await isListed(ben)).toBe(true);
});

test("a message removed from a person's view stays removed in every later request", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux", "trois");
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  expect(await clearHistory(ben, id, 2, true)).toMatchObject({ hidden: 2 });
  expect(await clearHistory(ben, id, 1, true)).toMatchObject({ hidden: 2 });
  expect(await clearHistory(ben, id, 0, false)).toMatchObject({ hidden: 2 });
  expect(await clearHistory(ben, id, 1_000_000, false)).toMatchObject({ hidden: 3 });
  await sendTexts(ana, id, "quatre");
  await waitUntil(async () => (await readRow(ben, id)).head === 4);
  expect(toTexts(await readLog(ben, id))).toEqual(["quatre"]);
  expect(toTexts(await readLog(ana, id))).toHaveLength(4);
});

test("a cleared conversation stays in the list until it is deleted, on every device", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const [phone, tablet] = [await Device.open(ben), await Device.open(ben)];
  phone.send(["d", 7, id, 1, 1]);
  for (const device of [phone, tablet]) {
    const [, , row] = await device.nextOf("i");
    expect([row[11], row[12]]).toEqual([1, 1 | 4]);
    expect(device.counters).toEqual([device.base + 1]);
  }
  expect(await phone.nextOf("y")).toEqual(["y", 7]);
  expect(await readRow(ben, id)).toMatchObject({ kept: true, hidden: 1, preview: null, unread: 0 });
  expect(await isListed(ben)).toBe(true);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await readRow(ben, id)).toMatchObject({ kept: true });
  expect((await phone.request((ref) => ["d", ref, id, 1, 0]))[0]).toBe("y");
  expect((await tablet.nextOf("i"))[2][12]).toBe(1);
  expect(await isListed(ben)).toBe(false);
});

test("a muted conversation is muted on every device and otherwise unchanged", async () => {
  const { ana, ben, id } = await makePair();
  const [phone, tablet] = [await Device.open(ben), await Device.open(ben)];
  phone.send(["z", 7, id, 1]);
  for (const device of [phone, tablet]) expect((await device.nextOf("i"))[2][12]).toBe(1 | 2);
  expect(await phone.nextOf("y")).toEqual(["y", 7]);
  expect(await request(ben, { type: "mute", conversation: id, muted: true })).toMatchObject({ muted: true });
  expect(tablet.counters).toHaveLength(1);
  await sendTexts(ana, id, "chut");
  expect(await tablet.nextLive()).toMatchObject({ text: "chut" });
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await readRow(ben, id)).toMatchObject({ muted: true, unread: 1 });
  expect(await readRow(ana, id)).toMatchObject({ muted: false });
  expect(await getUserChannelStub(env, ben.id).listMutes()).toEqual([id]);
  expect(await request(ben, { type: "mute", conversation: id, muted: false })).toMatchObject({ muted: false });
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await getUserChannelStub(env, ben.id).listMutes()).toEqual([]);
  expect(await readRow(ben, id)).toMatchObject({ muted: false, unread: 1 });
});

test("the answers to muting and clearing name the row's last change, also if they change nothing", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const { epoch, counter } = await request(ben, { type: "changes", since: 0 });
  const mute = { type: "mute", conversation: id, muted: true } as const;
  expect(await request(ben, mute)).toEqual({ muted: true, change: { epoch, counter: counter + 1 } });
  expect(await request(ben, mute)).toEqual({ muted: true, change: { epoch, counter: counter + 1 } });
  expect(await clearHistory(ben, id, 1, true)).toEqual({ hidden: 1, change: { epoch, counter: counter + 2 } });
  expect(await clearHistory(ben, id, 1, true)).toEqual({ hidden: 1, change: { epoch, counter: counter + 2 } });
  expect(await request(ben, { type: "changes", since: 0 })).toMatchObject({ epoch, counter: counter + 2 });
});
