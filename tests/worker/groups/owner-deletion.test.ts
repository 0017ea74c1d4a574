import { expect, test } from "vitest";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";

const deleteForEveryone = (person: Person, conversation: string, seq: number) =>
  request(person, { type: "deleteForEveryone", conversation, seq });

/** A group of three whose member Ben wrote message 2; message 1 says that the group was created. */
const makeChat = async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few members");
  await sendTexts(ben, id, "secret");
  for (const one of [owner, ben, cleo]) await waitUntil(async () => (await readRow(one, id)).head === 2);
  return { id, owner, ben, cleo };
};

test("the owner deletes a member's message once, with a system message that names both, on everybody's devices", async () => {
  const { id, owner, ben, cleo } = await makeChat();
  await request(cleo, { type: "react", conversation: id, seq: 2, emoji: "👍" });
  const author = await Device.open(ben);
  const done = await deleteForEveryone(owner, id, 2);
  expect(done).toMatchObject({ by: 0 });
  expect(await deleteForEveryone(owner, id, 2)).toEqual(done);
  expect(author.decodeMessages(await author.nextOf("e"))).toMatchObject([{ seq: 2, body: { type: "deleted", by: 0 } }]);
  for (const person of [owner, ben, cleo]) {
    await waitUntil(async () => (await readRow(person, id)).head === 3);
    const [, deleted, event, ...more] = await readLog(person, id);
    expect(deleted).not.toHaveProperty("reactions");
    expect(deleted).toMatchObject({ seq: 2, sender: 1, body: { type: "deleted", by: 0 } });
    expect(event).toMatchObject({ seq: 3, sender: 0, body: { type: "event", event: "deleted", who: [1] } });
    expect(more).toEqual([]);
    expect(JSON.stringify(await readLog(person, id))).not.toContain("secret");
    expect((await readRow(person, id)).unread).toBe(0);
  }
});

test("other members, and an owner who handed the group over, cannot delete messages of others", async () => {
  const { id, owner, ben, cleo } = await makeChat();
  expect(await deleteForEveryone(cleo, id, 2)).toEqual({ error: "not_your_message" });
  await requestAs(owner, "PUT", `/api/groups/${id}/owner`, { user_id: cleo.id });
  expect(await deleteForEveryone(owner, id, 2)).toEqual({ error: "not_your_message" });
  expect(toTexts(await readLog(ben, id))).toContain("secret");
  expect(await deleteForEveryone(cleo, id, 2)).toHaveProperty("revision");
  expect(await deleteForEveryone(cleo, id, 1)).toEqual({ error: "not_your_message" });
});

test("the tombstone of a message that its author deleted first does not name the owner", async () => {
  const { id, owner, ben } = await makeChat();
  const done = await deleteForEveryone(ben, id, 2);
  expect(await deleteForEveryone(owner, id, 2)).toEqual(done);
  expect((await readLog(owner, id))[1]?.body).toEqual({ type: "deleted" });
});

test("an own deletion leaves no system message", async () => {
  const { id, owner, ben } = await makeChat();
  await sendTexts(owner, id, "mien");
  await deleteForEveryone(owner, id, 3);
  await deleteForEveryone(ben, id, 2);
  expect((await readLog(ben, id)).map(({ body }) => body.type)).toEqual(["event", "deleted", "deleted"]);
});

test("edit vs. delete by the owner: the deletion wins in both orders", async () => {
  const { id, owner, ben } = await makeChat();
  await sendTexts(ben, id, "autre");
  const edit = (seq: number) =>
    request(ben, { type: "editMessage", conversation: id, target: seq, edit: 0, text: "corrigé" });
  await edit(2);
  await deleteForEveryone(owner, id, 2);
  await deleteForEveryone(owner, id, 3);
  expect(await edit(3)).toEqual({ error: "message_withdrawn" });
  expect(JSON.stringify(await readLog(ben, id))).not.toMatch(/corrigé|autre|secret/);
});

test("a member's deletion of a message that the owner deleted is confirmed by client id", async () => {
  const { id, owner, ben } = await makeChat();
  const cid = (await readLog(ben, id)).find(({ seq }) => seq === 2)?.cid ?? "";
  const done = await deleteForEveryone(owner, id, 2);
  expect(done).toMatchObject({ by: 0 });
  expect(await request(ben, { type: "deletePending", conversation: id, cid })).toMatchObject(done);
});
