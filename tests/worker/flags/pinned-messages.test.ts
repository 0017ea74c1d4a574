import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import type { Person } from "#tests/support/people/people.ts";
import { decodeRow } from "#tests/support/wire-frames.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const pin = (of: Person, conversation: ConversationId, seq: number, pinned = true) =>
  request(of, { type: "pinMessage", conversation, seq, pinned });
const deleteForEveryone = (of: Person, conversation: ConversationId, seq: number) =>
  request(of, { type: "deleteForEveryone", conversation, seq });
const readPinned = async (of: Person, id: ConversationId) => (await readRow(of, id)).pinnedMessages;
const waitForPinned = (of: Person, id: ConversationId, seqs: number[]) =>
  waitUntil(async () => (await readPinned(of, id)).join() === seqs.join());
const readStored = (id: ConversationId): Promise<string | null> =>
  runInDurableObject(
    env.CONVERSATION.getByName(id),
    (_, { storage }) => storage.sql.exec<{ pinned: string | null }>("SELECT pinned FROM conversation").one().pinned,
  );
const countPinEvents = async (of: Person, id: ConversationId) =>
  (await readLog(of, id)).filter(({ body }) => body.type === "event" && body.event === "pinned").length;
const block = (conversation: ConversationId, by: Person, isBlocked = true) =>
  getConversationStub(env, conversation).setBlocked(by.id, isBlocked);

/** Two people with four messages of Ana, which both have received. */
const makeChat = async () => {
  const pair = await makePair();
  await sendTexts(pair.ana, pair.id, "un", "deux", "trois", "quatre");
  for (const one of [pair.ana, pair.ben]) await waitUntil(async () => (await readRow(one, pair.id)).head === 4);
  return pair;
};

describe("a pin in a private chat", () => {
  test("reaches all devices of both with a system message, survives restarts, and can be taken back by either", async () => {
    const { ana, ben, id } = await makeChat();
    const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
    expect(await pin(ben, id, 2)).toEqual({ pinned: [2] });
    for (const phone of [phoneA, phoneB]) {
      const row = decodeRow((await phone.nextOf("i"))[2], phone.now);
      expect(row).toMatchObject({ head: 5, pinnedMessages: [2], preview: { type: "event", event: "pinned" } });
    }
    expect((await readLog(ana, id)).at(-1)).toMatchObject({ seq: 5, body: { type: "event", event: "pinned" } });
    expect((await readRow(ana, id)).unread).toBe(0);
    // The same request again changes nothing.
    expect(await pin(ana, id, 2)).toEqual({ pinned: [2] });
    await evictDurableObject(env.CONVERSATION.getByName(id));
    for (const one of [ana, ben]) await evictDurableObject(env.USER_CHANNEL.getByName(one.id));
    expect(await pin(ana, id, 1)).toEqual({ pinned: [2, 1] });
    for (const one of [ana, ben]) await waitForPinned(one, id, [2, 1]);
    expect(await pin(ana, id, 2, false)).toEqual({ pinned: [1] });
    expect(await pin(ana, id, 2, false)).toEqual({ pinned: [1] });
    for (const one of [ana, ben]) await waitForPinned(one, id, [1]);
    expect(await countPinEvents(ben, id)).toBe(2);
  });

  test("is one of at most three; a further one is refused", async () => {
    const { ana, ben, id } = await makeChat();
    for (const seq of [3, 1, 2]) await pin(ana, id, seq);
    expect(await pin(ben, id, 4)).toEqual({ error: "too_many_pinned_messages" });
    expect(await pin(ben, id, 1)).toEqual({ pinned: [3, 1, 2] });
    await pin(ben, id, 3, false);
    expect(await pin(ben, id, 4)).toEqual({ pinned: [1, 2, 4] });
    expect(await countPinEvents(ana, id)).toBe(4);
  });

  test("is for messages of people that exist, and needs an open chat, unlike its removal", async () => {
    const { ana, ben, id } = await makeChat();
    await pin(ana, id, 1);
    await waitForPinned(ben, id, [1]);
    expect(await pin(ana, id, 5)).toEqual({ error: "not_allowed" }); // the system message
    expect(await pin(ana, id, 6)).toEqual({ error: "message_not_found" });
    expect(await pin(await seedPerson(), id, 1)).toEqual({ error: "conversation_not_found" });
    await requestAs(ana, "DELETE", `/api/contacts/${ben.id}`);
    await waitUntil(async () => !(await readRow(ben, id)).open);
    expect(await pin(ben, id, 2)).toEqual({ error: "not_connected" });
    expect(await pin(ben, id, 1, false)).toEqual({ pinned: [] });
    await waitForPinned(ana, id, []);
  });

  test("stays in the list of the person who cleared the message or deleted it for themselves, and can be taken back", async () => {
    const { ana, ben, id } = await makeChat();
    for (const seq of [1, 3]) await pin(ana, id, seq);
    await waitForPinned(ben, id, [1, 3]);
    await request(ben, { type: "setMessageFlags", conversation: id, seq: 3, deleted: true });
    await pin(ana, id, 2);
    await waitForPinned(ben, id, [1, 3, 2]);
    await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: true });
    await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
    expect(await readPinned(ben, id)).toEqual([1, 3, 2]);
    // They cannot add a fourth one, which would push out one that Ana sees.
    expect(await pin(ben, id, 4)).toEqual({ error: "too_many_pinned_messages" });
    expect(await pin(ben, id, 3, false)).toEqual({ pinned: [1, 2] });
    expect(await pin(ben, id, 1, false)).toEqual({ pinned: [2] });
    expect(await pin(ben, id, 1)).toEqual({ error: "message_not_found" });
    for (const one of [ana, ben]) await waitForPinned(one, id, [2]);
  });
});

describe("pin vs. delete", () => {
  test("a deleted message is unpinned in the same transaction, whoever pinned it, and cannot be pinned again", async () => {
    const { ana, ben, id } = await makeChat();
    for (const seq of [1, 2]) await pin(ben, id, seq);
    await deleteForEveryone(ana, id, 1);
    expect(JSON.parse((await readStored(id)) ?? "")).toMatchObject({ list: [{ seq: 2 }] });
    for (const one of [ana, ben]) await waitForPinned(one, id, [2]);
    expect(await pin(ben, id, 1)).toEqual({ error: "message_not_found" });
    const { cid = "" } = (await readLog(ana, id)).find(({ seq }) => seq === 2) ?? {};
    await request(ana, { type: "deletePending", conversation: id, cid });
    for (const one of [ana, ben]) await waitForPinned(one, id, []);
  });

  test("a pin that is in flight while the message is deleted leaves none, in both orders and for both people", async () => {
    const { ana, ben, id } = await makeChat();
    const phone = await Device.open(ben);
    const answers: ReturnType<Device["request"]>[] = [];
    for (const seq of [1, 2, 3, 4]) {
      const isPinFirst = seq % 2 === 0;
      const sendPin = () => answers.push(phone.request((ref) => ["P", ref, id, seq, 1]));
      if (isPinFirst) sendPin();
      const deletion = deleteForEveryone(ana, id, seq);
      if (!isPinFirst) sendPin();
      await deletion;
    }
    const pinnedCount = (await Promise.all(answers)).filter(([type]) => type === "y").length;
    await waitUntil(async () => (await readRow(ben, id)).revision === 4);
    const head = 4 + pinnedCount; // each pin has its system message
    for (const one of [ana, ben]) {
      await waitUntil(async () => (await readRow(one, id)).head === head);
      await waitForPinned(one, id, []);
    }
    expect(JSON.parse((await readStored(id)) ?? '{"list":[]}')).toMatchObject({ list: [] });
  });

  test("the owner's deletion of a member's message unpins it", async () => {
    const { id, owner, others } = await makeSyncedGroup(2);
    const [ben] = others;
    if (!ben) throw new Error("too few members");
    await sendTexts(ben, id, "secret");
    await waitUntil(async () => (await readRow(owner, id)).head === 2);
    await pin(owner, id, 2);
    await waitForPinned(ben, id, [2]);
    await deleteForEveryone(owner, id, 2);
    for (const one of [owner, ben]) await waitForPinned(one, id, []);
  });
});

describe("across a block", () => {
  test("the blocked person's pins and removals reach nobody, also after unblocking, and they see no difference", async () => {
    const { ana, ben, id } = await makeChat();
    await pin(ana, id, 1);
    await waitForPinned(ben, id, [1]);
    await block(id, ana);
    const phoneA = await Device.open(ana);
    expect(await pin(ben, id, 2)).toEqual({ pinned: [1, 2] });
    expect(await pin(ben, id, 1, false)).toEqual({ pinned: [2] });
    await waitForPinned(ben, id, [2]);
    expect(await countPinEvents(ben, id)).toBe(2);
    expect(await pin(ana, id, 3)).toEqual({ error: "contact_blocked" });
    expect(await readPinned(ana, id)).toEqual([1]);
    expect(phoneA.counters).toHaveLength(0);
    await block(id, ana, false);
    expect(await pin(ana, id, 3)).toEqual({ pinned: [1, 3] });
    await waitForPinned(ana, id, [1, 3]);
    await waitForPinned(ben, id, [2, 3]);
    expect(await countPinEvents(ana, id)).toBe(2);
    // Who blocked may take back what both see; the other's own pin stays theirs.
    expect(await pin(ana, id, 2, false)).toEqual({ pinned: [1, 3] });
    expect(await pin(ben, id, 1)).toEqual({ pinned: [2, 3, 1] });
  });
});

describe("in a group", () => {
  test("only the owner pins and unpins", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    const [ben, cleo] = others;
    if (!ben || !cleo) throw new Error("too few members");
    await sendTexts(ben, id, "un");
    await waitUntil(async () => (await readRow(owner, id)).head === 2);
    expect(await pin(ben, id, 2)).toEqual({ error: "not_allowed" });
    await pin(owner, id, 2);
    for (const one of [owner, ben, cleo]) await waitForPinned(one, id, [2]);
    expect(await pin(cleo, id, 2, false)).toEqual({ error: "not_allowed" });
    await requestAs(owner, "PUT", `/api/groups/${id}/owner`, { user_id: cleo.id });
    expect(await pin(owner, id, 2, false)).toEqual({ error: "not_allowed" });
    expect(await pin(cleo, id, 2, false)).toEqual({ pinned: [] });
  });

  test("one who joins later sees only pins of messages since then, and none of what was written between two memberships", async () => {
    const { id, owner } = await makeSyncedGroup(2);
    await sendTexts(owner, id, "avant");
    await pin(owner, id, 2);
    const late = await seedPerson();
    await befriend(owner, late);
    await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [late.id] });
    await waitUntil(async () => (await readRow(late, id)).open);
    expect(await readPinned(late, id)).toEqual([]);
    await sendTexts(owner, id, "après");
    const { head } = await readRow(owner, id);
    await pin(owner, id, head);
    await waitForPinned(late, id, [head]);
    expect(await readPinned(owner, id)).toEqual([2, head]);
    // Former members see no pins, and after they rejoined none of what was written between.
    await requestAs(owner, "DELETE", `/api/groups/${id}/members/${late.id}`);
    await waitUntil(async () => !(await readRow(late, id)).open);
    expect(await readPinned(late, id)).toEqual([]);
    expect(await pin(late, id, head, false)).toHaveProperty("error");
    await sendTexts(owner, id, "entre");
    const between = (await readRow(owner, id)).head;
    await pin(owner, id, 2, false);
    await pin(owner, id, between);
    await scheduler.wait(100);
    expect(await readPinned(late, id)).toEqual([]);
    await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [late.id] });
    await waitForPinned(late, id, [head]);
    await waitForPinned(owner, id, [head, between]);
  });
});

test("a late notice with an older list does not bring a pin back", async () => {
  const { ana, ben, id } = await makeChat();
  await pin(ana, id, 1);
  await waitForPinned(ben, id, [1]);
  const { head, at } = await readRow(ben, id);
  await pin(ana, id, 1, false);
  await waitForPinned(ben, id, []);
  const { epoch, version } = await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
    const row = storage.sql.exec<{ epoch: string; pinned: string }>("SELECT epoch, pinned FROM conversation").one();
    return { epoch: row.epoch, version: (JSON.parse(row.pinned) as { version: number }).version };
  });
  const notice = {
    conversation: id,
    epoch,
    head,
    at,
    sender: 0,
    preview: null,
    whole: true,
    open: true,
    gone: false,
    membershipVersion: 1,
    group: null,
    hidden: 0,
    revision: 0,
    ownReadState: { delivered: 0, read: 0 },
    peerReadState: { delivered: 0, read: 0 },
    call: null,
    callVersion: 0,
    messages: [],
  };
  await env.USER_CHANNEL.getByName(ben.id).notify({ ...notice, pinned: { version: version - 1, seqs: [1] } });
  expect(await readPinned(ben, id)).toEqual([]);
  await env.USER_CHANNEL.getByName(ben.id).notify({ ...notice, pinned: { version: version + 1, seqs: [2] } });
  expect(await readPinned(ben, id)).toEqual([2]);
});
