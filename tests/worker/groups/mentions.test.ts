import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { InboxRow } from "#contract/conversations.ts";
import { createUuid } from "#contract/ids.ts";
import { everyoneMentionPauseMs } from "#contract/limits/groups.ts";
import type { Body } from "#contract/messages/body.ts";
import type { Mention } from "#contract/messages/mentions.ts";
import type { Person } from "#tests/support/people/people.ts";
import { decodeRow } from "#tests/support/wire-frames.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { countObjectRows } from "#tests/worker/support/row-counter.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";

const toBody = (text: string, ...mentions: Mention[]): Body => ({ type: "text", text, mentions });
const send = (from: Person, conversation: string, body: Body) =>
  request(from, { type: "send", conversation, messages: [{ cid: createUuid(), body }] });
const everyone: Mention = [0, 5];
const mentionsOf = async (person: Person, id: string) => (await readRow(person, id)).mentions;
const waitForMentions = (person: Person, id: string, ...seqs: number[]) =>
  waitUntil(async () => (await mentionsOf(person, id)).join() === seqs.join());

/** Lets this time pass since the messages of a group; access tokens do not live as long. */
const shiftTimes = (id: string, ms: number) =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    storage.sql.exec("UPDATE messages SET at = at - ?", ms);
  });

const makeTrio = async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  return { id, ana: owner, ben, cleo };
};

test("a mention costs one row more in its conversation", async () => {
  const { id, ana, ben, cleo } = await makeTrio();
  const group = env.CONVERSATION.getByName(id);
  const counted = await countObjectRows([group]);
  let head = 1; // the creation of the group
  const waitUntilNotified = async (person: Person) => waitUntil(async () => (await readRow(person, id)).head === head);
  /** Rows of one message: the fewest of three, since deliveries of earlier ones may write at the same time. */
  const countWritten = async (body: Body) => {
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) {
      for (const person of [ben, cleo]) await waitUntilNotified(person);
      await runInDurableObject(group, async (conversation) => {
        const { written } = counted;
        const position = { epoch: "", head: 0, revision: 0 };
        await conversation.sendMessages(ana.id, [{ cid: createUuid(), body }], position);
        counts.push(counted.written - written);
      });
      head++;
    }
    return Math.min(...counts);
  };
  const text = "@Ben et @Cleo";
  const plain = await countWritten({ type: "text", text });
  expect(await countWritten(toBody(text, [0, 4, 1], [8, 5, 2]))).toBe(plain + 2);
});

test("a mention is listed in the row of the mentioned member until it is read, with the same devices", async () => {
  const { id, ana, ben, cleo } = await makeTrio();
  const phone = await Device.open(ben);
  await send(ana, id, toBody("@Ben mbote", [0, 4, 1]));
  const [pushed] = phone.decodeMessages(await phone.nextOf("m"));
  expect(pushed).toMatchObject({ seq: 2, body: { mentions: [[0, 4, 1]] } });
  expect(phone.frames.some((frame) => Array.isArray(frame) && frame[0] === "i")).toBe(false); // devices derive the list
  await waitForMentions(ben, id, 2);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, mentions: [2] });
  await waitUntil(async () => (await readRow(cleo, id)).unread === 1);
  expect(await mentionsOf(cleo, id)).toEqual([]);
  expect(await mentionsOf(ana, id)).toEqual([]);
  await sendTexts(ana, id, "et encore");
  await send(ana, id, toBody("toi @Ben", [4, 4, 1]));
  await waitForMentions(ben, id, 2, 4);
  const welcome = await (await Device.attach(ben)).hello();
  const rows: InboxRow[] = welcome[5].map((row) => decodeRow(row, 0));
  expect(rows.find(({ conversation }) => conversation === id)?.mentions).toEqual([2, 4]);
  await request(ben, { type: "mark", conversation: id, delivered: 4, read: 3 });
  expect(await mentionsOf(ben, id)).toEqual([4]);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await mentionsOf(ben, id)).toEqual([4]);
  await request(ben, { type: "clearHistory", conversation: id, upTo: 4, keep: true });
  expect(await mentionsOf(ben, id)).toEqual([]);
});

test("a deleted message mentions nobody, also for a channel that has to count again", async () => {
  const { id, ana, ben } = await makeTrio();
  await send(ana, id, toBody("@Ben un", [0, 4, 1]));
  await send(ana, id, toBody("@Ben deux", [0, 4, 1]));
  await waitForMentions(ben, id, 2, 3);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await waitForMentions(ben, id, 3);
  await evictDurableObject(env.CONVERSATION.getByName(id));
  await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: true }); // counts exactly
  expect(await mentionsOf(ben, id)).toEqual([3]);
});

test("mentions of unknown and former members become plain text, also on the author's devices", async () => {
  const { id, ana, ben, cleo } = await makeTrio();
  await requestAs(cleo, "DELETE", `/api/groups/${id}/members/${cleo.id}`);
  await waitUntil(async () => (await readRow(ana, id)).group?.count === 2);
  const { revision } = await readRow(ana, id);
  const sent = await send(ana, id, toBody("@Ben @Cleo @X", [0, 4, 1], [5, 5, 2], [11, 2, 77]));
  const seq = sent.sent[0]?.seq ?? 0;
  expect((await readLog(ben, id)).at(-1)).toMatchObject({ seq, body: { mentions: [[0, 4, 1]] } });
  const revised = await request(ana, { type: "revised", conversation: id, since: revision });
  expect(revised.messages).toMatchObject([{ seq, body: { mentions: [[0, 4, 1]] } }]);
  await send(ana, id, toBody("@Cleo", [0, 5, 2]));
  expect((await readLog(ben, id)).at(-1)?.body).toEqual({ type: "text", text: "@Cleo" });
});

test("a private conversation has no mentions", async () => {
  const { ana, ben, id } = await makePair();
  await send(ana, id, toBody("@Ben mbote", [0, 4, 1]));
  await send(ana, id, toBody("@tous mbote", everyone));
  expect((await readLog(ben, id)).map(({ body }) => body)).toEqual([
    { type: "text", text: "@Ben mbote" },
    { type: "text", text: "@tous mbote" },
  ]);
  expect(await mentionsOf(ben, id)).toEqual([]);
});

test("malformed mentions are refused", async () => {
  const { id, ana } = await makeTrio();
  expect(await send(ana, id, toBody("@Ben", [0, 5, 1]))).toEqual({ error: "invalid_input" });
  expect(await readLog(ana, id)).toHaveLength(1);
});

test("only the owner mentions everyone, at most once an hour, whatever becomes of the message", async () => {
  const { id, ana, ben, cleo } = await makeTrio();
  expect(await send(ben, id, toBody("@tous venez", everyone))).toEqual({ error: "cannot_mention_everyone" });
  const cid = createUuid();
  const body = toBody("@tous venez", everyone);
  const first = { type: "send" as const, conversation: id, messages: [{ cid, body }] };
  const { sent } = await request(ana, first);
  await waitForMentions(ben, id, 2);
  await waitForMentions(cleo, id, 2);
  expect(await mentionsOf(ana, id)).toEqual([]);
  expect(await request(ana, first)).toMatchObject({ sent }); // a repetition keeps its place
  expect(await send(ana, id, body)).toEqual({ error: "everyone_mentioned_recently" });
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await waitForMentions(ben, id);
  await shiftTimes(id, everyoneMentionPauseMs - 60_000);
  expect(await send(ana, id, body)).toEqual({ error: "everyone_mentioned_recently" });
  await evictDurableObject(env.CONVERSATION.getByName(id));
  expect(await send(ana, id, body)).toEqual({ error: "everyone_mentioned_recently" });
  await shiftTimes(id, 60_000);
  expect(await send(ana, id, body)).toMatchObject({ sent: [{ seq: 3 }] });
  await waitForMentions(ben, id, 3);
});

test("two messages sent together mention everyone once", async () => {
  const { id, ana } = await makeTrio();
  const messages = [1, 2].map(() => ({ cid: createUuid(), body: toBody("@tous", everyone) }));
  expect(await request(ana, { type: "send", conversation: id, messages })).toMatchObject({ sent: [{ seq: 2 }] });
  expect(await readLog(ana, id)).toHaveLength(2);
});

test("what was said before joining mentions nobody who joins later, also when counted exactly", async () => {
  const { id, ana, ben } = await makeTrio();
  await send(ana, id, toBody("@tous", everyone));
  await waitForMentions(ben, id, 2);
  const dan = await seedPerson();
  await befriend(ana, dan);
  await requestAs(ana, "POST", `/api/groups/${id}/members`, { members: [dan.id] });
  await waitUntil(async () => (await readRow(dan, id)).open);
  await request(dan, { type: "mark", conversation: id, delivered: 0, read: 0 }); // counts exactly
  expect(await mentionsOf(dan, id)).toEqual([]);
  await send(ana, id, toBody("@Dan", [0, 4, 3]));
  await waitUntil(async () => (await mentionsOf(dan, id)).length === 1);
});

test("a text with a mention can be forwarded and found, without its mentions", async () => {
  const { id, ana, ben } = await makeTrio();
  const text = "@Ben réunion";
  await send(ana, id, toBody(text, [0, 4, 1]));
  const source = { conversation: id, seq: 2 };
  await request(ana, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: { type: "text", text }, source }],
  });
  expect((await readLog(ben, id)).at(-1)).toMatchObject({ seq: 3, body: { type: "text", text } });
  const found = await request(ben, { type: "search", conversation: id, query: "reunion", before: 100 });
  expect(found.messages.map(({ seq }) => seq)).toEqual([3, 2]);
});
