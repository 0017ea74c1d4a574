import { describe, expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { toGroupPlace } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";

const reply = (from: Person, conversation: string, place: string, text = "entre nous") =>
  request(from, {
    type: "send",
    conversation,
    messages: [{ cid: createUuid(), body: { type: "text", text, reply: place } }],
  });
const lastBody = async (person: Person, conversation: string) => (await readLog(person, conversation)).at(-1)?.body;

/** A group of three in which Ben wrote message 2 to the owner, Ana, and Cléo. */
const makeChat = async () => {
  const { id: group, owner: ana, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few members");
  await sendTexts(ben, group, "secret du groupe");
  for (const one of [ana, ben, cleo]) await waitUntil(async () => (await readRow(one, group)).head === 2);
  return { group, ana, ben, cleo, chat: privateConversationId(ana.id, ben.id) };
};
const bare = { type: "text", text: "entre nous" };

describe("a private reply to a message of a group", () => {
  test("carries its place, not its words, in the short form of a text", async () => {
    const { group, ana, ben, chat } = await makeChat();
    const phone = await Device.open(ben);
    const place = toGroupPlace(group, 2);
    await reply(ana, chat, place);
    const frame = await phone.nextOf("m");
    expect(JSON.stringify(frame)).toContain(JSON.stringify(["entre nous", place]));
    expect(JSON.stringify(phone.raw.slice(1))).not.toContain("secret");
    expect(await lastBody(ben, chat)).toEqual({ ...bare, reply: place });
  });

  test("keeps its place when the message is deleted or cleared, and when it is edited", async () => {
    const { group, ana, ben, chat } = await makeChat();
    await request(ben, { type: "deleteForEveryone", conversation: group, seq: 2 });
    await request(ana, { type: "clearHistory", conversation: group, upTo: 2, keep: true });
    await reply(ana, chat, toGroupPlace(group, 2));
    expect(await lastBody(ben, chat)).toEqual({ ...bare, reply: toGroupPlace(group, 2) });
    const [{ seq } = { seq: 0 }] = (await readLog(ana, chat)).slice(-1);
    await request(ana, { type: "editMessage", conversation: chat, target: seq, edit: 0, text: "corrigé" });
    expect(await lastBody(ben, chat)).toMatchObject({ text: "corrigé", reply: toGroupPlace(group, 2) });
  });

  test("loses a place that its author or the other person may not name, and the author's devices learn it", async () => {
    const { group, ana, cleo, chat } = await makeChat();
    await sendTexts(ana, group, "de moi");
    const stranger = (await makeChat()).group;
    const places = {
      "of nobody": toGroupPlace(group, 9),
      "of the author": toGroupPlace(group, 3),
      "of the system": toGroupPlace(group, 1),
      "of a group of others": toGroupPlace(stranger, 2),
      "of no group": toGroupPlace(createUuid(), 2),
    };
    for (const [name, place] of Object.entries(places)) {
      await reply(ana, chat, place);
      expect([name, await lastBody(ana, chat)]).toEqual([name, bare]);
    }
    // Ben's message cannot be answered in a chat with Cléo.
    const other = privateConversationId(ana.id, cleo.id);
    await reply(ana, other, toGroupPlace(group, 2));
    expect(await lastBody(cleo, other)).toEqual(bare);
    const { messages } = await request(ana, { type: "revised", conversation: chat, since: 0 });
    expect(messages).toHaveLength(Object.keys(places).length);
  });

  test("keeps its place after one of the two has left the group, and loses one of before its author joined", async () => {
    const { group, ana, ben, cleo, chat } = await makeChat();
    const late = await seedPerson();
    await befriend(ana, late);
    const withBen = await befriend(late, ben);
    await requestAs(ana, "POST", `/api/groups/${group}/members`, { members: [late.id] });
    await waitUntil(async () => (await readRow(late, group)).head > 2);
    await reply(late, withBen, toGroupPlace(group, 2));
    expect(await lastBody(ben, withBen)).toEqual(bare);
    await sendTexts(ben, group, "après");
    await requestAs(ana, "DELETE", `/api/groups/${group}/members/${late.id}`);
    await reply(late, withBen, toGroupPlace(group, 4));
    expect(await lastBody(ben, withBen)).toEqual({ ...bare, reply: toGroupPlace(group, 4) });
    await sendTexts(ben, group, "sans elle");
    const { head } = await readRow(cleo, group);
    await reply(late, withBen, toGroupPlace(group, head));
    expect(await lastBody(ben, withBen)).toEqual(bare);
    await requestAs(ana, "DELETE", `/api/groups/${group}/members/${ben.id}`);
    await reply(ana, chat, toGroupPlace(group, 2));
    expect(await lastBody(ben, chat)).toEqual({ ...bare, reply: toGroupPlace(group, 2) });
  });

  test("is not stored in a group, is not forwarded, and must have the form of a place", async () => {
    const { group, ana, ben, chat } = await makeChat();
    const place = toGroupPlace(group, 2);
    await reply(ana, group, place);
    expect(await lastBody(ben, group)).toEqual(bare);
    await reply(ana, chat, place);
    const [{ seq } = { seq: 0 }] = (await readLog(ana, chat)).slice(-1);
    const forward = { cid: createUuid(), body: bare, source: { conversation: chat, seq } } as const;
    await request(ana, {
      type: "send",
      conversation: group,
      messages: [{ ...forward, body: { type: "text", text: "entre nous", reply: place } }],
    });
    expect(await lastBody(ben, group)).toEqual(bare);
    for (const wrong of [`${group}:0`, `${group}:x`, `${chat}:2`, group])
      expect(
        await requestAs(ana, "POST", `/api/conversations/${chat}/messages`, {
          messages: [{ cid: createUuid(), body: { type: "text", text: "non", reply: wrong } }],
        }),
      ).toBe("invalid_input");
  });
});
