import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { starredMessagesMax } from "#contract/limits/messages.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { Person } from "#tests/support/people/people.ts";
import { decodeRow } from "#tests/support/wire-frames.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { createRowCounter } from "#tests/worker/support/row-counter.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const setFlags = (
  of: Person,
  conversation: ConversationId,
  seq: number,
  flags: { starred?: boolean; deleted?: true },
) => request(of, { type: "setMessageFlags", conversation, seq, ...flags });
const readFlags = (of: Person, id: ConversationId) =>
  requestAs<MessageFlags>(of, "GET", `/api/conversations/${id}/message-flags`) as Promise<MessageFlags>;
const readStarred = async (of: Person, id: ConversationId) => (await readFlags(of, id)).starred.map(({ seq }) => seq);
const readStoredFlags = (of: Person) =>
  runInDurableObject(env.USER_CHANNEL.getByName(of.id), (_, { storage }) =>
    storage.sql.exec("SELECT seq, starred_at IS NOT NULL AS starred, deleted FROM message_flags").toArray(),
  );

/** Two people with three messages of Ana, which both have received. */
const makeChat = async () => {
  const pair = await makePair();
  await sendTexts(pair.ana, pair.id, "un", "deux", "trois");
  for (const one of [pair.ana, pair.ben]) await waitUntil(async () => (await readRow(one, pair.id)).head === 3);
  return pair;
};

describe("a star", () => {
  test("reaches every device of its person and nobody else, survives a restart, and can be removed", async () => {
    const { ana, ben, id } = await makeChat();
    const [phone, tablet, anas] = [await Device.open(ben), await Device.open(ben), await Device.open(ana)];
    phone.send(["Y", 7, id, 2, { starred: true }]);
    const { flagsRevision } = decodeRow((await tablet.nextOf("i"))[2], tablet.now);
    expect(await phone.nextOf("y")).toEqual(["y", 7, flagsRevision]);
    await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
    const flags = await readFlags(ben, id);
    expect(flags).toMatchObject({ revision: flagsRevision, starred: [{ seq: 2 }], deleted: [] });
    expect(Math.abs((flags.starred[0]?.at ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(await readRow(ben, id)).toMatchObject({ flagsRevision });
    // The same request again changes nothing.
    expect(await setFlags(ben, id, 2, { starred: true })).toEqual({ revision: flagsRevision });
    expect(anas.counters).toHaveLength(0);
    expect(await readFlags(ana, id)).toEqual({ revision: 0, starred: [], deleted: [] });
    await setFlags(ben, id, 3, { starred: true });
    await setFlags(ben, id, 2, { starred: false });
    expect(await readStarred(ben, id)).toEqual([3]);
    expect(await setFlags(ben, id, 1, { starred: false })).toEqual({
      revision: (await readRow(ben, id)).flagsRevision,
    });
  });

  test("star vs. delete: none stays on a message that is deleted for everybody, in both orders", async () => {
    const { ana, ben, id } = await makeChat();
    await setFlags(ben, id, 1, { starred: true });
    await setFlags(ana, id, 1, { starred: true });
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    await waitUntil(async () => (await readRow(ben, id)).revision === 1);
    for (const one of [ana, ben]) expect(await readStoredFlags(one)).toEqual([]);
    expect(await setFlags(ben, id, 1, { starred: true })).toEqual({ error: "message_not_found" });
    const [starred] = await Promise.all([
      setFlags(ben, id, 2, { starred: true }),
      request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 }),
    ]);
    await waitUntil(async () => (await readRow(ben, id)).revision === 2);
    if ("error" in starred) expect(starred.error).toBe("message_not_found");
    expect(await readStoredFlags(ben)).toEqual([]);
  });

  test("is for messages that the person sees: written by people, not cleared, not from before they joined", async () => {
    const { ben, id } = await makeChat();
    await setFlags(ben, id, 1, { starred: true });
    await setFlags(ben, id, 3, { starred: true });
    await request(ben, { type: "clearHistory", conversation: id, upTo: 2, keep: true });
    expect(await readStarred(ben, id)).toEqual([3]);
    for (const seq of [2, 4])
      expect(await setFlags(ben, id, seq, { starred: true })).toEqual({ error: "message_not_found" });
    await request(ben, { type: "clearHistory", conversation: id, upTo: 3, keep: true });
    expect(await readRow(ben, id)).toMatchObject({ flagsRevision: 0 });
    expect(await readStoredFlags(ben)).toEqual([]);
    const group = await makeSyncedGroup(2);
    expect(await setFlags(group.owner, group.id, 1, { starred: true })).toEqual({ error: "message_not_found" });
  });

  test("stays when its person leaves the group, and ends with the conversation", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    const [ben] = others;
    if (!ben) throw new Error("too few");
    await sendTexts(owner, id, "un");
    const { head } = await readRow(owner, id);
    await waitUntil(async () => (await readRow(ben, id)).head === head);
    await setFlags(ben, id, head, { starred: true });
    await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`);
    await waitUntil(async () => !(await readRow(ben, id)).open);
    expect(await readStoredFlags(ben)).toHaveLength(1);
    await request(ben, { type: "clearHistory", conversation: id, upTo: head + 1, keep: false });
    await waitUntil(async () => (await readRow(ben, id)).gone);
    expect(await readStoredFlags(ben)).toEqual([]);
    expect(await setFlags(ben, id, head, { starred: true })).toEqual({ error: "conversation_not_found" });
  });

  test("one beyond the limit is refused", async () => {
    const { ben, id } = await makeChat();
    await runInDurableObject(env.USER_CHANNEL.getByName(ben.id), (_, { storage }) => {
      for (let seq = 1; seq < starredMessagesMax; seq++)
        storage.sql.exec("INSERT INTO message_flags (handle, seq, starred_at) VALUES (999, ?, 1)", seq);
    });
    await setFlags(ben, id, 1, { starred: true });
    expect(await setFlags(ben, id, 2, { starred: true })).toEqual({ error: "too_many_starred" });
    await setFlags(ben, id, 1, { starred: false });
    expect(await setFlags(ben, id, 2, { starred: true })).not.toHaveProperty("error");
  });
});

describe("a message deleted for oneself", () => {
  test("has no content for its person any more: in pages, changes, searches and the list, but for the others", async () => {
    const { ana, ben, id } = await makeChat();
    await setFlags(ben, id, 3, { starred: true });
    const tablet = await Device.open(ben);
    await setFlags(ben, id, 3, { deleted: true });
    const pushed = decodeRow((await tablet.nextOf("i"))[2], tablet.now);
    expect(pushed).toMatchObject({ head: 3, preview: { type: "withheld" } });
    await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
    expect(toTexts(await readLog(ben, id))).toEqual(["un", "deux", "<withheld>"]);
    expect(toTexts(await readLog(ana, id))).toEqual(["un", "deux", "trois"]);
    expect(await readFlags(ben, id)).toMatchObject({ starred: [], deleted: [3] });
    expect(await readRow(ben, id)).toMatchObject({ preview: { type: "withheld" } });
    const found = await request(ben, { type: "search", conversation: id, query: "tro", before: 9 });
    expect(found.messages).toEqual([]);
    // A change of the message does not bring it back.
    await request(ana, { type: "editMessage", conversation: id, target: 3, edit: 0, text: "trois bis" });
    const [, , , , , revised] = await tablet.nextOf("e");
    expect(revised.map((message) => JSON.stringify(message))).not.toContain("trois bis");
    expect(await readRow(ben, id)).toMatchObject({ revision: 1, preview: { type: "withheld" } });
    const changes = await request(ben, { type: "revised", conversation: id, since: 0 });
    expect(changes.messages.map(({ body }) => body.type)).toEqual(["withheld"]);
    expect(await setFlags(ben, id, 3, { starred: true })).toEqual({ error: "message_not_found" });
    await setFlags(ben, id, 3, { starred: false });
    expect(await readStoredFlags(ben)).toEqual([{ seq: 3, starred: 0, deleted: 1 }]);
  });

  test("may be one that was deleted for everybody, and stays deleted when it is", async () => {
    const { ana, ben, id } = await makeChat();
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    await setFlags(ben, id, 1, { deleted: true });
    await setFlags(ben, id, 2, { deleted: true });
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
    await waitUntil(async () => (await readRow(ben, id)).revision === 2);
    expect(toTexts(await readLog(ben, id))).toEqual(["<withheld>", "<withheld>", "trois"]);
    expect(await setFlags(ben, id, 4, { deleted: true })).toEqual({ error: "message_not_found" });
  });
});

test("a star in a chat that changes at every read is refused for now, and accepted later", async () => {
  const { ana, ben, id } = await makeChat();
  const { listMessages } = Conversation.prototype;
  const notified = vi.spyOn(UserChannel.prototype, "notify").mock;
  let reads = 0;
  vi.spyOn(Conversation.prototype, "listMessages").mockImplementation(async function (this: Conversation, ...read) {
    const page = await listMessages.apply(this, read);
    if (read[0] !== ben.id || ++reads > 50) return page;
    const before = notified.settledResults.length;
    await this.react(ana.id, { type: "react", conversation: id, seq: 1, emoji: reads % 2 === 0 ? "👍" : "❤️" });
    await waitUntil(() => notified.settledResults.length >= before + 2);
    return page;
  });
  expect(await setFlags(ben, id, 2, { starred: true })).toEqual({ error: "unavailable" });
  expect(reads).toBeLessThan(10);
  vi.restoreAllMocks();
  expect(await setFlags(ben, id, 2, { starred: true })).toHaveProperty("revision");
});

test("a star writes its row and that of the list, and a page of a chat without flags reads no row for them", async () => {
  const { ben, id } = await makeChat();
  const countRows = await createRowCounter([env.CONVERSATION.getByName(id), env.USER_CHANNEL.getByName(ben.id)]);
  const countPage = () =>
    countRows(() => request(ben, { type: "page", conversation: id, direction: "before", seq: 9, limit: 50 }));
  await countPage();
  const plain = await countPage();
  expect((await countRows(() => setFlags(ben, id, 2, { starred: true }))).written).toBeLessThanOrEqual(3);
  await setFlags(ben, id, 3, { deleted: true });
  expect(plain.read).toBe(3); // the messages
  expect(await countPage()).toEqual({ read: 3 + 2, written: 0 });
});
