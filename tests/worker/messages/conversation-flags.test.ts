import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { inboxPageRows, pinnedConversationsMax } from "#contract/limits/conversations.ts";
import type { FlagChange } from "#contract/settings/conversation-flags.ts";
import type { ChangeNumber } from "#contract/wire/commands.ts";
import type { Person } from "#tests/support/people/people.ts";
import { decodeRow } from "#tests/support/wire-frames.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { countObjectRows } from "#tests/worker/support/row-counter.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

const setFlags = (of: Person, conversation: string, flags: FlagChange & { known?: ChangeNumber }) =>
  request(of, { type: "setConversationFlags", conversation, ...flags });
const readFlags = async (of: Person, id: string) => {
  const { marked, archived, pinnedAt } = await readRow(of, id);
  return [marked && "marked", archived && "archived", pinnedAt !== null && "pinned"].filter(Boolean).join();
};
/** Newest change of a person's inbox, as a device that is up to date knows it. */
const readKnown = async (of: Person): Promise<ChangeNumber> => {
  const { epoch, counter } = await request(of, { type: "changes", since: 0 });
  return { epoch, counter };
};

/** Two people; Ben has received and read one message. */
const makeReadPair = async () => {
  const pair = await makePair();
  await sendTexts(pair.ana, pair.id, "un");
  await waitUntil(async () => (await readRow(pair.ben, pair.id)).head === 1);
  await request(pair.ben, { type: "mark", conversation: pair.id, delivered: 1, read: 1 });
  return pair;
};
const sendToBen = async ({ ana, ben, id }: { ana: Person; ben: Person; id: string }, text = "deux") => {
  const { head } = await readRow(ben, id);
  await sendTexts(ana, id, text);
  await waitUntil(async () => (await readRow(ben, id)).head > head);
};

/** A person with conversations that only their channel knows. */
const makeConversations = async (count: number) => {
  const me = await seedPerson();
  const ids = Array.from({ length: count }, () => privateConversationId(me.id, createUuid()));
  const notice: Omit<ConversationNotice, "conversation"> = {
    epoch: "e1",
    head: 0,
    at: 1_000,
    sender: 0,
    preview: null,
    whole: true,
    open: true,
    gone: false,
    membershipVersion: 1,
    group: null,
    hidden: 0,
    revision: 0,
    call: null,
    callVersion: 0,
    ownReadState: { delivered: 0, read: 0 },
    peerReadState: { delivered: 0, read: 0 },
    messages: [],
  };
  for (const conversation of ids) await getUserChannelStub(env, me.id).notify({ ...notice, conversation });
  return { me, ids };
};

test("flags reach every device of the person, nobody else, and survive a restart", async () => {
  const { ana, ben, id } = await makeReadPair();
  const [phone, tablet] = [await Device.open(ben), await Device.open(ben)];
  phone.send(["y", 7, id, { marked: true, pinned: true }]);
  for (const device of [phone, tablet]) {
    const row = decodeRow((await device.nextOf("i"))[2], device.now);
    expect(row).toMatchObject({ marked: true, archived: false, read: 1 });
    expect(Math.abs((row.pinnedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  }
  expect(await phone.nextOf("y")).toEqual(["y", 7]);
  expect(await setFlags(ben, id, { marked: true })).toMatchObject({ marked: true, archived: false });
  expect(tablet.counters).toHaveLength(1); // nothing changed again
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await readFlags(ben, id)).toBe("marked,pinned");
  expect(await readFlags(ana, id)).toBe("");
  expect(await readRow(ana, id)).toMatchObject({ othersRead: 1 });
  await setFlags(ben, id, { archived: true });
  expect(await readFlags(ben, id)).toBe("marked,archived"); // no longer pinned
  await setFlags(ben, id, { pinned: true });
  expect(await readFlags(ben, id)).toBe("marked,pinned"); // no longer archived
  await setFlags(ben, id, { marked: false, pinned: false });
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await readFlags(ben, id)).toBe("");
});

test("mark unread vs. read elsewhere: the later one at the server wins, in both orders", async () => {
  const pair = await makeReadPair();
  const { ben, id } = pair;
  await setFlags(ben, id, { marked: true });
  await sendToBen(pair);
  expect(await readFlags(ben, id)).toBe("marked"); // a message does not end it
  const tablet = await Device.open(ben);
  await request(ben, { type: "mark", conversation: id, delivered: 2, read: 2 });
  expect(decodeRow((await tablet.nextOf("i"))[2], 0)).toMatchObject({ marked: false, unread: 0, read: 2 });
  await setFlags(ben, id, { marked: true });
  expect(await readFlags(ben, id)).toBe("marked");
  expect(await readRow(ben, id)).toMatchObject({ read: 2, unread: 0 });
});

test("a mark of a device that did not know of a later reading does not return", async () => {
  const pair = await makeReadPair();
  const { ben, id } = pair;
  const known = await readKnown(ben);
  await sendToBen(pair);
  await request(ben, { type: "mark", conversation: id, delivered: 2, read: 2 });
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await setFlags(ben, id, { marked: true, known })).toMatchObject({ marked: false });
  expect(await readFlags(ben, id)).toBe("");
  const current = await readKnown(ben);
  expect(await setFlags(ben, id, { marked: true, known: current })).toMatchObject({ marked: true });
  await setFlags(ben, id, { marked: false });
  // The same request again, because its answer was lost.
  expect(await setFlags(ben, id, { marked: true, known: current })).toMatchObject({ marked: false });
  expect(await setFlags(ben, id, { marked: true, known: { ...current, epoch: "another" } })).toMatchObject({
    marked: true,
  });
});

test("an archived conversation comes back with a new message of anybody, unless it is muted", async () => {
  const pair = await makeReadPair();
  const { ana, ben, id } = pair;
  const tablet = await Device.open(ben);
  await setFlags(ben, id, { archived: true });
  expect(decodeRow((await tablet.nextOf("i"))[2], 0).archived).toBe(true);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
  expect(await readFlags(ben, id)).toBe("archived");
  await sendToBen(pair);
  expect(decodeRow((await tablet.nextOf("i"))[2], 0)).toMatchObject({ archived: false, head: 2, unread: 1 });
  await setFlags(ben, id, { archived: true });
  await sendTexts(ben, id, "de moi");
  await waitUntil(async () => (await readFlags(ben, id)) === "");
  await request(ben, { type: "mute", conversation: id, muted: true });
  await setFlags(ben, id, { archived: true });
  await sendToBen(pair);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect(await readFlags(ben, id)).toBe("archived");
});

test("a mention brings a group back that is muted except mentions", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  await request(ben, { type: "mute", conversation: id, muted: true, exceptMentions: true });
  await setFlags(ben, id, { archived: true });
  await sendToBen({ ana: owner, ben, id }, "à tous");
  expect(await readFlags(ben, id)).toBe("archived");
  await request(owner, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: { type: "text", text: "@Ben", mentions: [[0, 4, 1]] } }],
  });
  await waitUntil(async () => (await readFlags(ben, id)) === "");
});

test("a late archiving hides no message that its device did not know", async () => {
  const pair = await makeReadPair();
  const { ben, id } = pair;
  const known = await readKnown(ben);
  await sendToBen(pair);
  expect(await setFlags(ben, id, { archived: true, known })).toMatchObject({ archived: false });
  expect(await setFlags(ben, id, { archived: true, known: await readKnown(ben) })).toMatchObject({ archived: true });
});

test("pinned conversations keep the order of pinning, and one too many is refused, also in a race", async () => {
  const { me, ids } = await makeConversations(pinnedConversationsMax + 2);
  for (const id of ids.slice(0, pinnedConversationsMax - 1)) await setFlags(me, id, { pinned: true });
  const race = await Promise.all(ids.slice(-3).map((id) => setFlags(me, id, { pinned: true })));
  expect(race.filter(({ error }) => error === "too_many_pinned")).toHaveLength(2);
  const pins = async () =>
    (await request(me, { type: "changes", since: 0 })).rows
      .flatMap(({ conversation, pinnedAt }) => (pinnedAt === null ? [] : [{ conversation, pinnedAt }]))
      .sort((a, b) => a.pinnedAt - b.pinnedAt)
      .map(({ conversation }) => conversation);
  const pinned = await pins();
  expect(pinned.slice(0, -1)).toEqual(ids.slice(0, pinnedConversationsMax - 1));
  expect(pinned).toHaveLength(pinnedConversationsMax);
  const [first = "", second = ""] = ids;
  const { pinnedAt } = await readRow(me, first);
  await setFlags(me, first, { archived: true });
  await setFlags(me, first, { pinned: pinnedAt ?? true }); // the archiving is undone
  expect(await pins()).toEqual(pinned);
  await setFlags(me, first, { pinned: true }); // already pinned: keeps its place
  expect(await pins()).toEqual(pinned);
  await setFlags(me, second, { pinned: false });
  await setFlags(me, second, { pinned: true });
  expect(await pins()).toEqual([...pinned.filter((id) => id !== second), second]);
});

test("a conversation that is deleted from the list loses its flags, and a group that was left only then", async () => {
  const { ben, id } = await makeReadPair();
  await setFlags(ben, id, { marked: true, pinned: true });
  await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: false });
  expect(await readFlags(ben, id)).toBe("");
  const group = await makeSyncedGroup(3);
  const [cleo] = group.others;
  if (!cleo) throw new Error("too few");
  await setFlags(cleo, group.id, { pinned: true, marked: true });
  await requestAs(cleo, "DELETE", `/api/groups/${group.id}/members/${cleo.id}`);
  await waitUntil(async () => !(await readRow(cleo, group.id)).open);
  expect(await readRow(cleo, group.id)).toMatchObject({ pinnedAt: expect.any(Number) });
  await request(cleo, { type: "clearHistory", conversation: group.id, upTo: 2, keep: false });
  await waitUntil(async () => (await readRow(cleo, group.id)).gone);
  expect(await readFlags(cleo, group.id)).toBe("");
  expect(await setFlags(cleo, group.id, { pinned: true })).toEqual({ error: "conversation_not_found" });
});

test("the first page of the inbox has the pinned conversations and an archived one, however old", async () => {
  const { me, ids } = await makeConversations(inboxPageRows + 10);
  const [first = "", second = "", third = ""] = ids;
  await setFlags(me, first, { pinned: true });
  await setFlags(me, second, { archived: true });
  for (const id of ids.slice(3)) await setFlags(me, id, { marked: true });
  const page = await request(me, { type: "changes", since: 0 });
  const listed = page.rows.map(({ conversation }) => conversation);
  expect(page.before).not.toBeNull();
  expect([first, second, third].map((id) => listed.filter((one) => one === id).length)).toEqual([1, 1, 0]);
  const next = await request(me, { type: "changes", since: 0, before: page.before ?? 0 });
  expect(next.rows.map(({ conversation }) => conversation)).toContain(third);
});

test("a mark as unread is one row, and a message to a conversation with flags costs what it did without", async () => {
  const pair = await makeReadPair();
  const { ana, ben, id } = pair;
  const channels = [ana, ben].map((person) => env.USER_CHANNEL.getByName(person.id));
  for (const channel of channels) await evictDurableObject(channel);
  await readRow(ben, id);
  const counted = await countObjectRows([env.CONVERSATION.getByName(id), ...channels]);
  const count = async (action: () => Promise<unknown>) => {
    await scheduler.wait(50);
    const { written } = counted;
    await action();
    await scheduler.wait(50);
    return counted.written - written;
  };
  /** Counts the rows of an action at its cheapest of three runs: work in the background may fall into one of them. */
  const countFewest = async (act: (round: number) => Promise<unknown>) => {
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) counts.push(await count(() => act(round)));
    return Math.min(...counts);
  };
  const mark = (round: number) => setFlags(ben, id, { marked: round % 2 === 0 });
  expect(await countFewest(mark)).toBeLessThanOrEqual(2); // the row, and now and then its index
  await setFlags(ben, id, { marked: false });
  await request(ben, { type: "mute", conversation: id, muted: true });
  const fewest = () => countFewest(() => sendToBen(pair, "encore"));
  const plain = await fewest();
  await setFlags(ben, id, { pinned: true, marked: true });
  expect(await fewest()).toBeLessThanOrEqual(plain);
  await setFlags(ben, id, { archived: true });
  expect(await fewest()).toBeLessThanOrEqual(plain);
});

test("flags of a conversation of others are refused", async () => {
  const { id } = await makePair();
  const stranger = await seedPerson();
  expect(await setFlags(stranger, id, { pinned: true })).toEqual({ error: "conversation_not_found" });
});
