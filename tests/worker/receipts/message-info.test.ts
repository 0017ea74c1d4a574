import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { type MessageInfo, messageInfoPath } from "#contract/wire/message-info.ts";
import type { Person } from "#tests/support/people/people.ts";
import { readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { requestAs } from "#tests/worker/support/make-group.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

const mark = (person: Person, conversation: ConversationId, delivered: number, read: number) =>
  request(person, { type: "mark", conversation, delivered, read });
const askInfo = (person: Person, conversation: ConversationId, seq: number) =>
  requestAs<MessageInfo>(person, "GET", messageInfoPath(conversation, seq));
const infoOf = async (person: Person, conversation: ConversationId, seq: number): Promise<MessageInfo> => {
  const info = await askInfo(person, conversation, seq);
  if (info === null || typeof info === "string") throw new Error(`no message info: ${info}`);
  return info;
};
const setBlocked = (by: Person, other: Person, isBlocked: boolean) =>
  call(isBlocked ? "PUT" : "DELETE", `/api/blocks/${other.id}`, { token: by.token });
const setReceipts = (person: Person, receipts: boolean) =>
  call("PATCH", "/api/settings", { token: person.token, body: { receipts } });
/** Time of an action, from before to after it. */
const timed = async (action: () => Promise<unknown>) => {
  await scheduler.wait(5);
  const from = Date.now();
  await action();
  return { from, to: Date.now() };
};
const expectTime = (time: MessageInfo["read"], { from, to }: { from: number; to: number }) => {
  expect(time).toMatchObject({ isExact: true });
  expect(time?.at).toBeGreaterThanOrEqual(from);
  expect(time?.at).toBeLessThanOrEqual(to);
};

test("an own message has the times at which the other person received and read it, also after a restart", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux", "trois");
  expect(await infoOf(ana, id, 1)).toEqual({ delivered: null, read: null });
  const firstDelivered = await timed(() => mark(ben, id, 1, 0));
  const allDelivered = await timed(() => mark(ben, id, 3, 0));
  const firstRead = await timed(() => mark(ben, id, 3, 2));
  await evictDurableObject(env.CONVERSATION.getByName(id));
  const [one, two, three] = [await infoOf(ana, id, 1), await infoOf(ana, id, 2), await infoOf(ana, id, 3)];
  expectTime(one.delivered, firstDelivered);
  expectTime(two.delivered, allDelivered);
  expectTime(three.delivered, allDelivered);
  expectTime(one.read, firstRead);
  expectTime(two.read, firstRead);
  expect(three.read).toBeNull();
});

test("a message read at once was delivered at that time", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  const read = await timed(() => mark(ben, id, 0, 1));
  const info = await infoOf(ana, id, 1);
  expectTime(info.delivered, read);
  expectTime(info.read, read);
});

test("only the author is told, and nobody of a message that does not exist", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  expect(await askInfo(ben, id, 1)).toBe("not_your_message");
  expect(await askInfo(ana, id, 2)).toBe("message_not_found");
});

test("a hidden read has no time, and once read receipts are on again that of the first read that shows", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  await setReceipts(ben, false);
  await mark(ben, id, 1, 1);
  expect(await infoOf(ana, id, 1)).toMatchObject({ delivered: { isExact: true }, read: null });
  await setReceipts(ben, true);
  const shown = await timed(() => mark(ben, id, 2, 2));
  expectTime((await infoOf(ana, id, 1)).read, shown);
});

test("who hides their own reads is not told when others read", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  await mark(ben, id, 1, 1);
  await waitUntil(async () => (await readRow(ana, id)).othersRead === 1);
  await setReceipts(ana, false);
  await mark(ben, id, 2, 2);
  expect((await infoOf(ana, id, 1)).read).toMatchObject({ isExact: true });
  expect(await infoOf(ana, id, 2)).toMatchObject({ delivered: { isExact: true }, read: null });
});

test("a message to somebody who blocks its author has no times, also after the block", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "avant");
  await mark(ben, id, 1, 0);
  await setBlocked(ben, ana, true);
  await sendTexts(ana, id, "pendant");
  await mark(ben, id, 2, 2);
  expect(await infoOf(ana, id, 2)).toEqual({ delivered: null, read: null });
  expect((await infoOf(ana, id, 1)).read).toBeNull();
  await setBlocked(ben, ana, false);
  expect(await infoOf(ana, id, 2)).toEqual({ delivered: null, read: null });
});
