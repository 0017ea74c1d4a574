import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { reactionKindsMax } from "#contract/limits/messages.ts";
import type { ReactorPage } from "#contract/wire/commands.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const react = (person: Person, conversation: ConversationId, seq: number, emoji: string | null) =>
  request(person, { type: "react", conversation, seq, emoji });
const readReactions = async (person: Person, conversation: ConversationId, seq: number) =>
  (await readLog(person, conversation)).find((message) => message.seq === seq)?.reactions;
const listReactors = (person: Person, conversation: ConversationId, seq: number, query = "") =>
  requestAs<ReactorPage>(person, "GET", `/api/conversations/${conversation}/messages/${seq}/reactions${query}`);
const block = (conversation: ConversationId, by: Person, isBlocked = true) =>
  getConversationStub(env, conversation).setBlocked(by.id, isBlocked);

const makeChat = async () => {
  const pair = await makePair();
  await sendTexts(pair.ana, pair.id, "un", "deux", "trois");
  for (const one of [pair.ana, pair.ben]) await waitUntil(async () => (await readRow(one, pair.id)).head === 3);
  return pair;
};

describe("a reaction", () => {
  test("reaches both people's devices as the absolute summary, in at most 12 bytes beyond its emoji", async () => {
    const { ana, ben, id } = await makeChat();
    const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
    await react(ben, id, 2, "👍");
    expect((await phoneA.nextOf("r")).slice(3)).toEqual([0, 1, [{ seq: 2, summary: "👍" }]]);
    expect((await phoneB.nextOf("r")).slice(3)).toEqual([0, 1, [{ seq: 2, summary: "👍." }]]);
    await react(ana, id, 2, "👍");
    expect((await phoneB.nextOf("r")).slice(3)).toEqual([1, 2, [{ seq: 2, summary: "👍2." }]]);
    await phoneA.nextOf("r");
    await react(ben, id, 2, "❤️");
    expect((await phoneA.nextOf("r"))[5]).toEqual([{ seq: 2, summary: "👍. ❤️" }]);
    await react(ben, id, 2, null);
    expect((await phoneA.nextOf("r"))[5]).toEqual([{ seq: 2, summary: "👍." }]);
    const frames = phoneA.raw.filter((frame) => frame.endsWith(";👍"));
    expect(frames).toHaveLength(1);
    for (const frame of frames) expect(frame.length - "👍".length).toBeLessThanOrEqual(12);
  });

  test("is the only one of its member, and repeating it changes nothing", async () => {
    const { ana, ben, id } = await makeChat();
    const first = await react(ben, id, 1, "👍");
    expect(await react(ben, id, 1, "👍")).toEqual(first);
    expect(await react(ana, id, 1, null)).toEqual({ revision: 0 });
    await react(ben, id, 1, "😂");
    expect(await readReactions(ana, id, 1)).toBe("😂");
    expect(await readReactions(ben, id, 1)).toBe("😂.");
    expect((await readRow(ana, id)).unread).toBe(0);
  });

  test("does not count as unread, moves no head and no receipt", async () => {
    const { ana, ben, id } = await makeChat();
    const before = await readRow(ben, id);
    await react(ana, id, 3, "🙏");
    await waitUntil(async () => (await readRow(ben, id)).revision === 1);
    expect(await readRow(ben, id)).toEqual({ ...before, revision: 1 });
  });

  test("comes with the page and with the changes of a device that was away, and survives a restart", async () => {
    const { ana, ben, id } = await makeChat();
    await react(ben, id, 1, "👍");
    await react(ben, id, 3, "❤️");
    await react(ana, id, 3, "❤️");
    await evictDurableObject(env.CONVERSATION.getByName(id));
    const { messages, revision, more } = await request(ana, { type: "revised", conversation: id, since: 1 });
    expect([revision, more]).toEqual([3, false]);
    expect(messages.map(({ seq, reactions }) => [seq, reactions])).toEqual([[3, "❤️2."]]);
    expect((await readLog(ben, id)).map(({ reactions }) => reactions)).toEqual(["👍.", undefined, "❤️2."]);
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
    await waitUntil(async () => (await readRow(ben, id)).revision === 4);
  });

  test("is deleted with its message, and cannot be added to a deleted one", async () => {
    const { ana, ben, id } = await makeChat();
    await react(ben, id, 1, "👍");
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    expect(await react(ben, id, 1, "❤️")).toEqual({ error: "message_not_found" });
    expect(await listReactors(ana, id, 1)).toBe("message_not_found");
    expect((await readLog(ben, id))[0]).toMatchObject({ body: { type: "deleted" } });
    expect(await readReactions(ben, id, 1)).toBeUndefined();
    const rows = await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) =>
      storage.sql.exec("SELECT * FROM reactions").toArray(),
    );
    expect(rows).toEqual([]);
  });

  test("is one emoji, to a message that exists and is none of the system", async () => {
    const { ben, id } = await makeChat();
    for (const emoji of ["👩🏻‍❤️‍💋‍👨🏼", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "🇨🇩"])
      expect(await react(ben, id, 1, emoji)).not.toHaveProperty("error");
    for (const emoji of ["", "a", "1", "👍👍", "👍 ", "❤", "👍️️", "<b>", "👍".repeat(9)])
      expect(await react(ben, id, 1, emoji), emoji).toEqual({ error: "invalid_input" });
    expect(await react(ben, id, 4, "👍")).toEqual({ error: "message_not_found" });
    const { id: group, owner } = await makeSyncedGroup(2);
    expect(await react(owner, group, 1, "👍")).toEqual({ error: "not_allowed" });
  });

  test("can be removed but not added once the two are not connected any more", async () => {
    const { ana, ben, id } = await makeChat();
    await react(ben, id, 1, "👍");
    await requestAs(ana, "DELETE", `/api/contacts/${ben.id}`);
    await waitUntil(async () => !(await readRow(ben, id)).open);
    expect(await react(ben, id, 1, "❤️")).toEqual({ error: "not_connected" });
    expect(await react(ben, id, 1, null)).toEqual({ revision: 2 });
    expect(await readReactions(ana, id, 1)).toBeUndefined();
  });
});

describe("across a block", () => {
  test("the blocked person's reaction reaches nobody, also after unblocking, and they see no difference", async () => {
    const { ana, ben, id } = await makeChat();
    await block(id, ana);
    const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
    await react(ben, id, 1, "👍");
    expect((await phoneB.nextOf("r"))[5]).toEqual([{ seq: 1, summary: "👍." }]);
    expect(await react(ana, id, 1, "👍")).toEqual({ error: "contact_blocked" });
    expect(await listReactors(ben, id, 1)).toMatchObject({ reactors: [{ emoji: "👍" }] });
    await block(id, ana, false);
    await scheduler.wait(100);
    expect(phoneA.raw.filter((frame) => frame.includes("👍"))).toEqual([]);
    expect(await readReactions(ana, id, 1)).toBeUndefined();
    expect(await listReactors(ana, id, 1)).toEqual({ reactors: [], before: null });
    expect(
      (await request(ana, { type: "revised", conversation: id, since: 0 })).messages[0]?.reactions,
    ).toBeUndefined();
    await react(ana, id, 1, "👍");
    expect((await phoneB.nextOf("r"))[5]).toEqual([{ seq: 1, summary: "👍2." }]);
    expect(await readReactions(ana, id, 1)).toBe("👍.");
  });
});

describe("in a group", () => {
  test("one who joins later sees no reaction to what was before", async () => {
    const { id, owner, others } = await makeSyncedGroup(2);
    await sendTexts(owner, id, "avant");
    await react(others[0] as Person, id, 2, "😮");
    const late = await seedPerson();
    await befriend(owner, late);
    await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [late.id] });
    await waitUntil(async () => (await readRow(late, id)).head > 2);
    expect(await react(late, id, 2, "👍")).toEqual({ error: "message_not_found" });
    expect(await listReactors(late, id, 2)).toBe("message_not_found");
    expect(JSON.stringify(await readLog(late, id))).not.toContain("😮");
    expect((await request(late, { type: "revised", conversation: id, since: 0 })).messages).toEqual([]);
  });

  test("reactions of one who left stay, and are removed with the account", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    const [ben, cleo] = others;
    if (!ben || !cleo) throw new Error("too few");
    await sendTexts(owner, id, "bonjour");
    await react(ben, id, 2, "👍");
    await react(cleo, id, 2, "👍");
    await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`);
    expect(await react(ben, id, 2, null)).toEqual({ error: "conversation_not_found" });
    expect(await readReactions(owner, id, 2)).toBe("👍2");
    await getConversationStub(env, id).removeDeletedUser(ben.id);
    expect(await readReactions(owner, id, 2)).toBe("👍");
    await waitUntil(async () => (await readRow(owner, id)).revision === 3);
  });

  test("those of many members within a second are one frame, and none is lost", async () => {
    const { id, owner, others } = await makeSyncedGroup(12);
    await sendTexts(owner, id, "On vote");
    for (const one of others) await waitUntil(async () => (await readRow(one, id)).head === 2);
    const phone = await Device.open(owner);
    const startedAt = Date.now();
    await Promise.all(others.map((one, index) => react(one, id, 2, index % 2 === 0 ? "👍" : "❤️")));
    const seconds = Math.ceil((Date.now() - startedAt) / 1_000);
    await waitUntil(() => phone.raw.some((frame) => frame.includes("👍6 ❤️5")));
    expect(phone.frames.filter((frame) => Array.isArray(frame) && frame[0] === "r").length).toBeLessThanOrEqual(
      seconds,
    );
  });

  test("a message has at most twenty kinds, and a member may still choose one of these", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    const [ben, cleo] = others;
    if (!ben || !cleo) throw new Error("too few");
    await sendTexts(owner, id, "tout");
    const kinds = Array.from({ length: reactionKindsMax }, (_, index) => String.fromCodePoint(0x1f600 + index));
    await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
      for (const [index, emoji] of kinds.entries())
        storage.sql.exec(
          "INSERT INTO reactions (seq, member, emoji, revision) VALUES (2, ?, ?, ?)",
          100 + index,
          emoji,
          index + 1,
        );
    });
    await evictDurableObject(env.CONVERSATION.getByName(id));
    expect(await react(ben, id, 2, "🐘")).toEqual({ error: "too_many_reactions" });
    expect(await react(ben, id, 2, kinds[3] ?? "")).toEqual({ revision: reactionKindsMax + 1 });
    expect(await react(cleo, id, 2, kinds[4] ?? "")).not.toHaveProperty("error");
    expect((await readReactions(ben, id, 2))?.split(" ").slice(0, 2)).toEqual([`${kinds[3]}2.`, `${kinds[4]}2`]);
  });

  test("who reacted is listed newest first, page by page, with any emoji or with one", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    await sendTexts(owner, id, "qui ?");
    await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => {
      for (let index = 1; index <= 60; index++)
        storage.sql.exec(
          "INSERT INTO reactions (seq, member, emoji, revision) VALUES (2, ?, '🙏', ?)",
          100 + index,
          index,
        );
    });
    await evictDurableObject(env.CONVERSATION.getByName(id));
    await react(others[0] as Person, id, 2, "👍");
    const first = (await listReactors(owner, id, 2)) as ReactorPage;
    expect(first.reactors.length).toBe(50);
    expect(first.reactors[0]).toEqual({ member: 1, emoji: "👍" });
    const second = (await listReactors(owner, id, 2, `?before=${first.before}`)) as ReactorPage;
    expect(second).toMatchObject({ before: null });
    expect(new Set([...first.reactors, ...second.reactors].map(({ member }) => member)).size).toBe(61);
    expect(await listReactors(owner, id, 2, `?emoji=${encodeURIComponent("👍")}`)).toEqual({
      reactors: [{ member: 1, emoji: "👍" }],
      before: null,
    });
  });
});
