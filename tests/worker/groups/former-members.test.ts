import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { readPath } from "#contract/files.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import type { ReactorPage } from "#contract/wire/commands.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, readMemberPage, requestAs } from "#tests/worker/support/make-group.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const memberPath = (group: string, { id }: Person) => `/api/groups/${group}/members/${id}`;
/** The two ways in which a membership ends. */
const endings = {
  left: (group: string, _owner: Person, one: Person) => requestAs(one, "DELETE", memberPath(group, one)),
  removed: (group: string, owner: Person, one: Person) => requestAs(owner, "DELETE", memberPath(group, one)),
};
const add = (owner: Person, group: string, ...people: Person[]) =>
  requestAs(owner, "POST", `/api/groups/${group}/members`, { members: people.map(({ id }) => id) });
const sendFile = async (from: Person, conversation: ConversationId, text: string): Promise<string> => {
  const { id } = await seedFile(from.id);
  await request(from, { type: "send", conversation, messages: [{ cid: createUuid(), body: makeImageBody(id, text) }] });
  return id;
};
const fileStatus = async (by: Person, conversation: ConversationId, file: string) =>
  (await call("GET", readPath(conversation, file), { token: by.token })).status;
const react = (by: Person, conversation: ConversationId, seq: number, emoji: string) =>
  request(by, { type: "react", conversation, seq, emoji });
const search = async (by: Person, conversation: ConversationId, query: string) =>
  toTexts((await request(by, { type: "search", conversation, query, before: 1_000 })).messages);
const deleteConversation = (by: Person, conversation: ConversationId, upTo: number) =>
  request(by, { type: "clearHistory", conversation, upTo, keep: false });

/**
 * Group of Ana, Ben, Cleo and Dan. Messages: 1 created, 2 image of Ben, 3 "avant deux" of Ben with a reaction of Ana, 4 "à
 * changer" of Ben, 5 "à supprimer" of Dan, 6 the end of Cleo's membership.
 */
const makeFormerMember = async (ending: keyof typeof endings) => {
  const { id, owner: ana, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const file = await sendFile(ben, id, "avant");
  await sendTexts(ben, id, "avant deux", "à changer");
  await sendTexts(dan, id, "à supprimer");
  await react(ana, id, 3, "👍");
  await waitUntil(async () => (await readRow(cleo, id)).head === 5);
  await request(cleo, { type: "setMessageFlags", conversation: id, seq: 3, starred: true });
  const devices = [await Device.open(cleo), await Device.open(cleo)];
  expect(await endings[ending](id, ana, cleo)).toBe(null);
  await waitUntil(async () => !(await readRow(cleo, id)).open);
  for (const device of devices) await device.nextOf("i");
  return { id, ana, ben, cleo, dan, file, devices };
};

type FormerWorld = Awaited<ReturnType<typeof makeFormerMember>>;

/** What the group does afterwards: a file, texts, an edit, reactions, a reply, typing, receipts, a new member, a new name. */
const goOn = async ({ id, ana, ben, dan }: FormerWorld) => {
  const eve = await seedPerson();
  await befriend(ana, eve);
  await add(ana, id, eve);
  const later = await sendFile(ben, id, "image après");
  const reply = { type: "text", text: "réponse après", reply: 3 } as const;
  await request(ben, { type: "send", conversation: id, messages: [{ cid: createUuid(), body: reply }] });
  await request(ben, { type: "editMessage", conversation: id, target: 4, edit: 0, text: "changé après" });
  await react(dan, id, 3, "❤️");
  const [phoneB, phoneD] = [await Device.open(ben), await Device.open(dan)];
  phoneB.send(["t", id]);
  await phoneD.nextOf("t");
  for (const one of [ana, ben, dan]) await request(one, { type: "mark", conversation: id, delivered: 9, read: 9 });
  await requestAs(ana, "PATCH", `/api/groups/${id}`, { name: "Nom après" });
  await waitUntil(async () => (await readRow(dan, id)).group?.name === "Nom après");
  return { eve, later };
};

test.each(["left", "removed"] as const)(
  "a member who %s reads what they had by every route, and nothing later",
  async (how) => {
    const world = await makeFormerMember(how);
    const { id, ana, ben, cleo, dan, file, devices } = world;
    const frameCounts = devices.map((device) => device.frames.length);
    const { eve, later } = await goOn(world);
    const rowBefore = await readRow(cleo, id);
    expect(rowBefore).toMatchObject({
      open: false,
      gone: false,
      unread: 0,
      head: 6,
      preview: { type: "event", event: how },
      group: { name: "Famille", role: "member" },
    });
    // Live: nothing arrives, whatever happens in the group.
    for (const device of devices) await device.waitForPong();
    expect(devices.map((device) => device.frames.length)).toEqual(frameCounts);

    // Pages, also beyond the end.
    const texts = ["<event>", "<image>", "avant deux", "à changer", "à supprimer", "<event>"];
    expect(toTexts(await readLog(cleo, id))).toEqual(texts);
    const page = { type: "page", conversation: id, limit: 40 } as const;
    expect(await request(cleo, { ...page, direction: "before", seq: 1_000 })).toMatchObject({ head: 6, more: false });
    expect(await request(cleo, { ...page, direction: "after", seq: 6 })).toMatchObject({
      messages: [],
      head: 6,
      more: false,
    });
    expect(await request(cleo, { ...page, direction: "after", seq: 8 })).toMatchObject({ messages: [] });
    expect(await request(cleo, { ...page, direction: "after", seq: 3, limit: 2 })).toMatchObject({ more: true });

    // Changes since: the edit and the reaction are not shown.
    const message = (await readLog(cleo, id))[2];
    expect(message?.reactions).toMatch(/👍/);
    expect(message?.reactions).not.toMatch(/❤/);
    expect(JSON.stringify(await request(cleo, { type: "revised", conversation: id, since: 0 }))).not.toMatch(/après|❤/);
    const reactors = await requestAs<ReactorPage>(cleo, "GET", `/api/conversations/${id}/messages/3/reactions`);
    expect(reactors).toMatchObject({ reactors: [{ member: 0, emoji: "👍" }], before: null });

    // Search, files, stars.
    expect(await search(cleo, id, "avant")).toEqual(["avant deux", "<image>"]);
    expect(await search(cleo, id, "après")).toEqual([]);
    expect(await search(cleo, id, "changer")).toEqual(["à changer"]);
    expect(await fileStatus(cleo, id, file)).not.toBe(404);
    expect(await fileStatus(cleo, id, later)).toBe(404);
    expect(await requestAs(cleo, "GET", `/api/conversations/${id}/message-flags`)).toMatchObject({
      starred: [{ seq: 3 }],
    });
    expect(await request(cleo, { type: "setMessageFlags", conversation: id, seq: 4, starred: true })).toMatchObject({});
    expect(await request(cleo, { type: "setMessageFlags", conversation: id, seq: 8, starred: true })).toEqual({
      error: "message_not_found",
    });

    // Names of those who were members then, and nothing of the group as it is now.
    const { members } = await readMemberPage(cleo, id, "?numbers=0,1,3,4");
    expect(members.map(({ number, profile, left }) => [number, profile?.id, left])).toEqual([
      [0, ana.id, true],
      [1, ben.id, true],
      [3, dan.id, true],
    ]);
    expect(JSON.stringify(members)).not.toContain(eve.id);
    for (const path of ["", "/members", "/members?since=1"])
      expect(await requestAs(cleo, "GET", `/api/groups/${id}${path}`)).toBe("group_not_found");
    const listed = await getUserChannelStub(env, cleo.id).listConversations(undefined);
    expect(listed.rows).toMatchObject([{ conversation: id, open: false, head: 6 }]);
    expect(await readRow(cleo, id)).toMatchObject({ unread: 0, head: 6, group: { name: "Famille" } });
  },
);

test.each(["left", "removed"] as const)("a member who %s may not change anything in the group", async (how) => {
  const world = await makeFormerMember(how);
  const { id, ben, cleo, dan } = world;
  await sendTexts(ben, id, "après");
  const own = { conversation: id } as const;
  const refused = {
    send: await sendTexts(cleo, id, "encore"),
    edit: await request(cleo, { type: "editMessage", ...own, target: 3, edit: 0, text: "changé" }),
    deleteForEveryone: await request(cleo, { type: "deleteForEveryone", ...own, seq: 3 }),
    deletePending: await request(cleo, { type: "deletePending", ...own, cid: createUuid() }),
    react: await react(cleo, id, 3, "👍"),
    mark: await request(cleo, { type: "mark", ...own, delivered: 7, read: 7 }),
  };
  for (const [name, answer] of Object.entries(refused))
    expect([name, answer]).toEqual([name, { error: "conversation_not_found" }]);
  const dialled = await requestAs(cleo, "POST", "/api/calls", { conversation: id, type: "audio" });
  expect(dialled).toBe("conversation_not_found");
  const group = `/api/groups/${id}`;
  const commands = await Promise.all([
    requestAs(cleo, "PATCH", group, { name: "Nous" }),
    requestAs(cleo, "POST", `${group}/members`, { members: [dan.id] }),
    requestAs(cleo, "DELETE", memberPath(id, dan)),
    requestAs(cleo, "PUT", `${group}/owner`, { user_id: cleo.id }),
    requestAs(cleo, "DELETE", group),
    requestAs(cleo, "DELETE", `${group}/picture`),
  ]);
  expect(commands).toEqual(commands.map(() => "group_not_found"));
  expect(await requestAs(cleo, "GET", `/api/conversations/${id}/messages/3/receipts`)).toBe("conversation_not_found");
  // Forwarding from the history is reading; a later message is not there.
  const other = await befriend(cleo, await seedPerson());
  const forward = (seq: number, text: string) =>
    request(cleo, {
      type: "send",
      conversation: other,
      messages: [
        {
          cid: createUuid(),
          body: { type: "text", text, forwarded: { by: ben.id, name: "Ben" } },
          source: { conversation: id, seq },
        },
      ],
    });
  expect(await forward(3, "avant deux")).toMatchObject({ sent: [{ seq: 1 }] });
  expect(await forward(7, "après")).toEqual({ error: "original_gone" });
  const phone = await Device.open(dan);
  const before = phone.frames.length;
  (await Device.open(cleo)).send(["t", id]);
  await phone.waitForPong();
  expect(phone.frames.length).toBe(before);
});

test("a message deleted for everyone disappears for former members who saw it, and nothing else reaches their channel", async () => {
  const world = await makeFormerMember("removed");
  const { id, ana, ben, cleo, dan, devices } = world;
  const toCleo: unknown[] = [];
  const { notify } = UserChannel.prototype;
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(async function (this: UserChannel, notice) {
    if (nameOf(this) === cleo.id) toCleo.push(notice);
    return notify.call(this, notice);
  });
  await goOn(world);
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 9 });
  expect(toCleo).toEqual([]);
  await request(dan, { type: "deleteForEveryone", conversation: id, seq: 5 });
  await waitUntil(async () => toTexts(await readLog(cleo, id))[4] === "<deleted>");
  await waitUntil(() => toCleo.length > 0);
  expect(JSON.stringify(toCleo)).not.toMatch(/après|❤/);
  for (const device of devices) {
    await device.waitForPong();
    expect(device.raw.join()).not.toMatch(/après|❤/);
  }
  const { revision } = await readRow(cleo, id);
  expect(revision).toBeGreaterThan(0);
  expect(await request(cleo, { type: "revised", conversation: id, since: 0 })).toMatchObject({ revision, more: false });
  // The owner deletes a message of Ben; the system message about it is for the members.
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 3 });
  await waitUntil(async () => toTexts(await readLog(cleo, id))[2] === "<deleted>");
  expect((await readLog(ben, id))[2]?.body).toEqual({ type: "deleted", by: 0 });
  expect((await readLog(cleo, id))[2]?.body).toEqual({ type: "deleted" });
  expect((await readLog(cleo, id)).length).toBe(6);
  expect(await search(cleo, id, "avant")).toEqual(["<image>"]);
});

test("a former member does not learn which messages were edited after they left", async () => {
  const { id, owner: ana, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await sendTexts(ben, id, "un", "deux", "trois", "quatre");
  const edit = (target: number, number: number, text: string) =>
    request(ben, { type: "editMessage", conversation: id, target, edit: number, text });
  const listRevised = async (since: number) => {
    const { messages, revision } = await request(cleo, { type: "revised", conversation: id, since });
    return { texts: toTexts(messages), revision };
  };
  await edit(2, 0, "un avant");
  await edit(4, 0, "trois avant");
  await edit(5, 0, "quatre avant");
  await endings.removed(id, ana, cleo);
  await waitUntil(async () => !(await readRow(cleo, id)).open);
  const phone = await Device.open(cleo);
  await edit(3, 0, "deux après");
  await edit(4, 1, "trois après");
  // Whatever a device asks for, the messages are the same as if nothing had been edited later.
  expect(await listRevised(0)).toMatchObject({ texts: ["un avant", "trois avant", "quatre avant"] });
  expect(await listRevised(1)).toMatchObject({ texts: ["trois avant", "quatre avant"] });
  expect(await listRevised(2)).toMatchObject({ texts: ["quatre avant"] });
  expect(await listRevised(3)).toMatchObject({ texts: [] });
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 5 });
  const [, ...frame] = await phone.nextOf("e");
  expect(JSON.stringify(frame)).not.toMatch(/deux|trois/);
  expect(await listRevised(2)).toEqual({ texts: ["<deleted>"], revision: 6 });
});

test("deleting the conversation ends a former member's access on all devices, and they return without history", async () => {
  const world = await makeFormerMember("removed");
  const { id, ana, ben, cleo, file } = world;
  expect(await request(cleo, { type: "clearHistory", conversation: id, upTo: 2, keep: true })).toMatchObject({
    hidden: 2,
  });
  expect(toTexts(await readLog(cleo, id))[0]).toBe("avant deux");
  await sendTexts(ben, id, "après");
  expect(await request(cleo, { type: "clearHistory", conversation: id, upTo: 99, keep: true })).toMatchObject({
    hidden: 6,
  });
  expect(await readRow(cleo, id)).toMatchObject({ unread: 0, head: 6, hidden: 6, open: false });
  expect(await fileStatus(cleo, id, file)).toBe(404);
  expect(await deleteConversation(cleo, id, 6)).toEqual({ hidden: 6 });
  await waitUntil(async () => (await readRow(cleo, id)).gone);
  expect(await readRow(cleo, id)).toMatchObject({ open: false, preview: null, unread: 0 });
  const refusal = { error: "conversation_not_found" };
  expect(await request(cleo, { type: "page", conversation: id, direction: "after", seq: 0, limit: 40 })).toEqual(
    refusal,
  );
  expect(await request(cleo, { type: "search", conversation: id, query: "avant", before: 99 })).toEqual(refusal);
  expect(await request(cleo, { type: "revised", conversation: id, since: 0 })).toEqual(refusal);
  expect(await deleteConversation(cleo, id, 6)).toEqual(refusal);
  expect(await requestAs(cleo, "GET", `/api/groups/${id}/members?numbers=0`)).toBe("group_not_found");
  expect(await requestAs(cleo, "GET", `/api/conversations/${id}/message-flags`)).toBe("conversation_not_found");
  expect(toTexts(await readLog(ben, id))[2]).toBe("avant deux");
  await add(ana, id, cleo);
  await sendTexts(ben, id, "de retour");
  await waitUntil(async () => (await readRow(cleo, id)).head === 9);
  expect(toTexts(await readLog(cleo, id))).toEqual(["<event>", "de retour"]);
});

test("a member who is added again reads both memberships and nothing of the time between", async () => {
  const world = await makeFormerMember("removed");
  const { id, ana, ben, cleo, file } = world;
  const { later } = await goOn(world);
  await add(ana, id, cleo);
  const { head } = await readRow(ben, id);
  await sendTexts(ben, id, "de retour");
  await waitUntil(async () => (await readRow(cleo, id)).head === head + 1);
  expect(await readRow(cleo, id)).toMatchObject({
    open: true,
    gone: false,
    unread: 1,
    hidden: 0,
    group: { name: "Nom après" },
  });
  const seqs = (await readLog(cleo, id)).map(({ seq }) => seq);
  expect(seqs).toEqual([1, 2, 3, 4, 5, 6, head, head + 1]);
  const page = { type: "page", conversation: id, direction: "before", limit: 3 } as const;
  expect(await request(cleo, { ...page, seq: 1_000 })).toMatchObject({
    messages: [{ seq: head + 1 }, { seq: head }, { seq: 6 }],
    more: true,
  });
  expect(await request(cleo, { ...page, seq: head - 1 })).toMatchObject({
    messages: [{ seq: 6 }, { seq: 5 }, { seq: 4 }],
  });
  expect(await request(cleo, { ...page, seq: 4 })).toMatchObject({ more: false });
  // As a member again they see the messages of then as they are now.
  expect(await search(cleo, id, "après")).toEqual(["changé après"]);
  expect(await search(cleo, id, "avant")).toEqual(["avant deux", "<image>"]);
  expect(await fileStatus(cleo, id, file)).not.toBe(404);
  expect(await fileStatus(cleo, id, later)).toBe(404);
  expect(JSON.stringify(await request(cleo, { type: "revised", conversation: id, since: 0 }))).not.toMatch(
    /réponse|image après/,
  );
  const reply = (to: number) => ({ cid: createUuid(), body: { type: "text", text: "re", reply: to } as const });
  await request(cleo, { type: "send", conversation: id, messages: [reply(3), reply(8)] });
  const bodies = (await readLog(ben, id)).slice(-2).map(({ body }) => body);
  expect(bodies).toEqual([
    { type: "text", text: "re", reply: 3 },
    { type: "text", text: "re" },
  ]);
  await requestAs(cleo, "DELETE", memberPath(id, cleo));
  await waitUntil(async () => !(await readRow(cleo, id)).open);
  expect((await readLog(cleo, id)).map(({ seq }) => seq).slice(5, 8)).toEqual([6, head, head + 1]);
});

test("somebody they block adds a former member: the history stays as it was, and nothing else is visible", async () => {
  const world = await makeFormerMember("removed");
  const { id, ana, cleo, ben } = world;
  const before = await readRow(cleo, id);
  await getConversationStub(env, id).runGroupCommand(ana.id, {
    type: "add",
    people: [{ user: cleo.id, isHidden: true }],
  });
  await sendTexts(ben, id, "caché");
  expect((await readLog(cleo, id)).length).toBe(6);
  expect(await search(cleo, id, "caché")).toEqual([]);
  expect(await readRow(cleo, id)).toEqual(before);
  expect(await deleteConversation(cleo, id, 6)).toEqual({ hidden: 6 });
  await waitUntil(async () => (await readRow(cleo, id)).gone);
  expect(await request(cleo, { type: "page", conversation: id, direction: "after", seq: 0, limit: 40 })).toEqual({
    error: "conversation_not_found",
  });
});

test("the last member who leaves keeps the history, and the messages are deleted when nobody keeps it", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  await sendTexts(ben, id, "mbote");
  await endings.left(id, owner, ben);
  await endings.left(id, owner, owner);
  await waitUntil(async () => !(await readRow(owner, id)).open);
  expect(toTexts(await readLog(ben, id))).toEqual(["<event>", "mbote", "<event>"]);
  expect(toTexts(await readLog(owner, id))).toEqual(["<event>", "mbote", "<event>", "<event>"]);
  expect(await deleteConversation(ben, id, 3)).toEqual({ hidden: 3 });
  expect(toTexts(await readLog(owner, id))).toEqual(["<event>", "mbote", "<event>", "<event>"]);
  await getConversationStub(env, id).removeDeletedUser(owner.id);
  expect(await request(owner, { type: "page", conversation: id, direction: "after", seq: 0, limit: 9 })).toEqual({
    error: "conversation_not_found",
  });
});

test("a group that its owner deletes for everybody disappears for former members too", async () => {
  const { id, ana, cleo } = await makeFormerMember("removed");
  expect(await requestAs(ana, "DELETE", `/api/groups/${id}`)).toBe(null);
  await waitUntil(async () => (await readRow(cleo, id)).gone);
  expect(await request(cleo, { type: "page", conversation: id, direction: "after", seq: 0, limit: 9 })).toEqual({
    error: "conversation_not_found",
  });
});
