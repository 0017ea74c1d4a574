import { expect, test } from "vitest";
import type { Group } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import {
  makeFriends,
  makeGroup,
  makeSyncedGroup,
  readMemberPage,
  requestAs,
} from "#tests/worker/support/make-group.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";

test("a group with its first message is in everybody's list before its creation is answered", async () => {
  const [ana, ben, cleo] = await makeFriends(3);
  if (!ben || !cleo) throw new Error("too few");
  const phone = await Device.open(ben);
  const id = createUuid();
  const made = await makeGroup(ana, "  Famille   Mbuyi ", [ben, cleo], id);
  expect(made).toMatchObject({
    id,
    name: "Famille Mbuyi",
    count: 3,
    roster: 1,
    role: "owner",
    number: 0,
    picture: null,
  });
  expect(await readRow(ana, id)).toMatchObject({
    kind: "group",
    head: 1,
    unread: 0,
    open: true,
    gone: false,
    preview: { type: "event", event: "created", name: "Famille Mbuyi" },
    group: { name: "Famille Mbuyi", count: 3, roster: 1, role: "owner", number: 0 },
  });
  await phone.nextOf("i");
  expect(await readRow(ben, id)).toMatchObject({ unread: 0, group: { role: "member", number: 1 } });
  expect(
    (await readMemberPage(cleo, id)).members.map(({ number, profile, role }) => [number, profile?.id, role]),
  ).toEqual([
    [0, ana.id, "owner"],
    [1, ben.id, "member"],
    [2, cleo.id, "member"],
  ]);
  // A repeated request returns the same group; another person's id is refused.
  expect(await makeGroup(ana, "Autre", [ben], id)).toMatchObject({ name: "Famille Mbuyi", count: 3 });
  const [dan, eve] = await makeFriends(2);
  if (!eve) throw new Error("too few");
  expect(await makeGroup(dan, "Autre", [eve], id)).toBe("group_exists");
  expect(await requestAs<Group>(dan, "GET", `/api/groups/${id}`)).toBe("group_not_found");
});

test("messages reach all members with the sender's number, and are unread for all but their author", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const phones = await Promise.all([owner, cleo, dan].map((one) => Device.open(one)));
  await sendTexts(ben, id, "Mbote na bino");
  for (const phone of phones) {
    const [message] = phone.decodeMessages(await phone.nextOf("m"));
    expect(message).toMatchObject({ seq: 2, sender: 1, body: { type: "text", text: "Mbote na bino" } });
    expect(message).not.toHaveProperty("cid");
  }
  expect((await readRow(cleo, id)).unread).toBe(1);
  expect((await readRow(ben, id)).unread).toBe(0);
  // Ticks show what all others have received; an absent member holds them back.
  for (const one of [owner, cleo]) await request(one, { type: "mark", conversation: id, delivered: 2, read: 2 });
  expect(await readRow(ben, id)).toMatchObject({ othersDelivered: 0, othersRead: 0 });
  expect(await requestAs(ben, "GET", `/api/conversations/${id}/messages/2/receipts`)).toEqual({
    read: [0, 2],
    delivered: [],
    sent: [3],
  });
  expect(await requestAs(cleo, "GET", `/api/conversations/${id}/messages/2/receipts`)).toBe("not_your_message");
  await request(dan, { type: "mark", conversation: id, delivered: 2, read: 0 });
  await waitUntil(async () => (await readRow(ben, id)).othersDelivered === 2);
  expect((await readRow(ben, id)).othersRead).toBe(0);
});

test("a new member sees only later messages; a removed member sees nothing that follows", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  const [, dan] = await makeFriends(2);
  if (!ben || !cleo || !dan) throw new Error("too few");
  await sendTexts(ben, id, "avant");
  expect(await requestAs(ben, "POST", `/api/groups/${id}/members`, { members: [dan.id] })).toBe("not_allowed");
  expect(await requestAs(ben, "DELETE", `/api/groups/${id}/members/${cleo.id}`)).toBe("not_allowed");

  const phone = await Device.open(cleo);
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/members/${cleo.id}`)).toBe(null);
  await waitUntil(() => phone.frames.some((frame) => Array.isArray(frame) && frame[0] === "i"));
  expect(await readRow(cleo, id)).toMatchObject({ gone: false, open: false, unread: 0, head: 3 });
  await sendTexts(ben, id, "sans elle");
  expect((await readLog(cleo, id)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(await sendTexts(cleo, id, "encore")).toEqual({ error: "conversation_not_found" });
  expect(await requestAs(cleo, "GET", `/api/groups/${id}/members`)).toBe("group_not_found");
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/members/${cleo.id}`)).toBe(null);

  expect(await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [cleo.id] })).toMatchObject({
    count: 3,
  });
  await sendTexts(ben, id, "la revoilà");
  await waitUntil(async () => (await readRow(cleo, id)).head === 6);
  expect(await readRow(cleo, id)).toMatchObject({ gone: false, open: true, unread: 1 });
  expect((await readLog(cleo, id)).map(({ seq, body }) => [seq, body.type])).toEqual([
    [1, "event"],
    [2, "text"],
    [3, "event"],
    [5, "event"],
    [6, "text"],
  ]);
  const sentTexts = (await readLog(owner, id)).flatMap(({ body }) => (body.type === "text" ? [body.text] : []));
  expect(sentTexts).toEqual(["avant", "sans elle", "la revoilà"]);
  expect((await readMemberPage(owner, id)).members.map(({ number }) => number)).toEqual([0, 1, 2]);
});

test("a leaving owner transfers the group; the last member's leaving, or a deletion, ends it", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  const stranger = await seedPerson();
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/members/${owner.id}?heir=${stranger.id}`)).toBe(
    "member_not_found",
  );
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/members/${owner.id}?heir=${cleo.id}`)).toBe(null);
  expect(await requestAs(cleo, "GET", `/api/groups/${id}`)).toMatchObject({ role: "owner", count: 2 });
  expect(await requestAs(cleo, "PUT", `/api/groups/${id}/owner`, { user_id: ben.id })).toMatchObject({
    role: "member",
  });
  expect(await requestAs(cleo, "PATCH", `/api/groups/${id}`, { name: "Non" })).toBe("not_allowed");
  expect(await requestAs(ben, "PATCH", `/api/groups/${id}`, { name: "Cousins" })).toMatchObject({ name: "Cousins" });
  const events = (await readLog(cleo, id)).map(({ body, sender }) =>
    body.type === "event" ? [sender, body.event] : [],
  );
  expect(events).toEqual([
    [0, "created"],
    [0, "left"],
    [0, "owner"],
    [2, "owner"],
    [1, "renamed"],
  ]);
  expect(await requestAs(ben, "DELETE", `/api/groups/${id}`)).toBe(null);
  await waitUntil(async () => (await readRow(cleo, id)).gone);
  expect(await requestAs(cleo, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  expect(await makeGroup(owner, "Encore", [ben], id)).toBe("group_exists");
});
