import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { MemberPage } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits/groups.ts";
import { readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import {
  makeFriends,
  makeGroup,
  makeSyncedGroup,
  readMemberPage,
  requestAs,
} from "#tests/worker/support/make-group.ts";
import { befriend, seedContacts, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { openDb } from "#worker/db/client.ts";
import { profiles } from "#worker/db/schema.ts";

const numbersOf = ({ members }: MemberPage) => members.map(({ number }) => number);

/** All pages in order, as a device reads them. */
const readAll = async (by: Parameters<typeof readMemberPage>[0], id: string, since = 0) => {
  const first = await readMemberPage(by, id, `?since=${since}`);
  const pages = [first];
  for (let after = first.after; after !== null; after = pages.at(-1)?.after ?? null) {
    pages.push(await readMemberPage(by, id, `?since=${since}&after=${after}`));
  }
  return { roster: first.roster, pages, members: pages.flatMap(({ members }) => members) };
};

test("members are listed in pages by number, each once, and afterwards only changes since a roster version", async () => {
  const [owner] = await makeFriends(1);
  const people = await seedContacts(owner, 2 * memberPageRows + 10);
  const id = createUuid();
  const made = await requestAs(owner, "POST", "/api/groups", { id, name: "Quartier", members: people });
  expect(made).toMatchObject({ count: people.length + 1, roster: 1 });
  const { pages, members, roster } = await readAll(owner, id);
  expect(pages.map((page) => page.members.length)).toEqual([memberPageRows, memberPageRows, 11]);
  expect(members.map(({ profile }) => profile?.id)).toEqual([owner.id, ...people]);
  expect(members.map(({ number }) => number)).toEqual(Array.from({ length: people.length + 1 }, (_, n) => n));
  expect(members.every(({ left, profile }) => !left && profile?.phone.startsWith("+243"))).toBe(true);
  expect(members.filter(({ role }) => role === "owner").map(({ number }) => number)).toEqual([0]);

  expect(await readAll(owner, id, roster)).toMatchObject({ members: [], roster: 1 });
  for (const gone of [people[4], people[99]]) await requestAs(owner, "DELETE", `/api/groups/${id}/members/${gone}`);
  await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [people[99]] });
  await requestAs(owner, "PATCH", `/api/groups/${id}`, { name: "Notre quartier" });
  const changed = await readAll(owner, id, roster);
  expect(changed.roster).toBe(5);
  expect(changed.members).toMatchObject([
    { number: 5, left: true, role: "member" },
    { number: 100, left: false },
  ]);
  expect(numbersOf(await readMemberPage(owner, id, `?since=${roster}&after=6`))).toEqual([100]);
  expect((await readAll(owner, id)).members).toHaveLength(people.length);
  // Lookup by number also finds former members, because their messages remain.
  expect((await readMemberPage(owner, id, "?numbers=100,5,7,999")).members).toMatchObject([
    { number: 100, left: false, profile: { id: people[99] } },
    { number: 5, left: true, profile: { id: people[4] } },
    { number: 7, left: false },
  ]);
});

test.each([
  "numbers=",
  "numbers=a",
  "numbers=1,",
  "numbers=-1",
  "numbers=1.5",
  "numbers=1&since=2",
  `numbers=${Array.from({ length: memberPageRows + 1 }, (_, n) => n).join()}`,
  "since=-1",
  "since=x",
  "since=",
  "after=1e3",
  `after=${"9".repeat(17)}`,
  "before=3",
  "limit=1000",
])("members cannot be read by ?%s", async (query) => {
  const { id, owner } = await makeSyncedGroup(2);
  expect(await requestAs(owner, "GET", `/api/groups/${id}/members?${query}`)).toBe("invalid_input");
});

test("a member is shown as the reader may see them: an old picture of a person who blocks the reader, nothing of a deleted account", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const setPicture = (key: string) =>
    openDb(env).update(profiles).set({ avatar_url: key }).where(eq(profiles.id, ben.id));
  await setPicture("old.webp");
  await call("PUT", `/api/blocks/${cleo.id}`, { token: ben.token });
  await setPicture("new.webp");
  const seenBy = async (by: typeof ben) => (await readMemberPage(by, id, "?numbers=1")).members[0]?.profile?.avatar_url;
  expect(await seenBy(owner)).toBe("new.webp");
  expect(await seenBy(dan)).toBe("new.webp");
  expect(await seenBy(cleo)).toBe("old.webp");
  expect(await seenBy(ben)).toBe("new.webp");
  // A member without another relation is visible in the group and nowhere else.
  expect(await requestAs(dan, "GET", `/api/users/${ben.id}`)).toBe("user_not_found");

  await env.DB.prepare("DELETE FROM users WHERE id = ?").bind(dan.id).run();
  expect((await readMemberPage(owner, id)).members[3]).toMatchObject({ number: 3, profile: null, left: false });
});

test("members who left before a person joined are unknown to them; those who leave later are known by number", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ana, ben, cleo] = others;
  if (!ana || !ben || !cleo) throw new Error("too few");
  const { roster } = await readMemberPage(owner, id);
  for (const gone of [ana, cleo]) await requestAs(owner, "DELETE", `/api/groups/${id}/members/${gone.id}`);
  const dan = await seedPerson();
  await befriend(owner, dan);
  await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [dan.id] });
  expect(numbersOf(await readMemberPage(dan, id, "?numbers=0,1,2,3,4"))).toEqual([0, 2, 4]);
  expect(numbersOf(await readMemberPage(dan, id, `?since=${roster}`))).toEqual([4]);
  expect(numbersOf(await readMemberPage(ben, id, "?numbers=0,1,2,3,4"))).toEqual([0, 1, 2, 3, 4]);
  // Who returns knows those of the first membership.
  await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [cleo.id] });
  expect(numbersOf(await readMemberPage(cleo, id, "?numbers=0,1,2,3"))).toEqual([0, 1, 2, 3]);
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  expect(await readMemberPage(dan, id, "?numbers=1,2")).toMatchObject({ members: [{ number: 2, left: true }] });
});

test("receipts list the other members by number with their progress, without later members", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  const [, eve] = await makeFriends(2);
  if (!ben || !cleo || !dan || !eve) throw new Error("too few");
  await sendTexts(owner, id, "Mbote", "Mbote encore");
  await request(ben, { type: "mark", conversation: id, delivered: 3, read: 3 });
  await request(cleo, { type: "mark", conversation: id, delivered: 3, read: 2 });
  const receipts = (seq: number | string, by = owner) =>
    requestAs(by, "GET", `/api/conversations/${id}/messages/${seq}/receipts`);
  expect(await receipts(2)).toEqual({ read: [1, 2], delivered: [], sent: [3] });
  expect(await receipts(3)).toEqual({ read: [1], delivered: [2], sent: [3] });
  expect(await receipts(1)).toBe("not_your_message"); // there is no "A created the group" message
  expect(await receipts(4)).toBe("message_not_found");
  for (const seq of ["0", "-1", "x", "1.5", "9".repeat(20)]) expect(await receipts(seq)).toBe("invalid_input");
  expect(await receipts(2, ben)).toBe("not_your_message");
  expect(await receipts(2, eve)).toBe("conversation_not_found");

  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  expect(await receipts(2)).toEqual({ read: [2], delivered: [], sent: [3] });
  expect(await receipts(2, ben)).toBe("conversation_not_found");
  await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [ben.id] });
  expect(await receipts(2)).toEqual({ read: [2], delivered: [], sent: [3] });
  expect(await requestAs(owner, "GET", `/api/conversations/${createUuid()}/messages/1/receipts`)).toBe(
    "conversation_not_found",
  );
});

test("the list of conversations contains a group's row, and nothing once the person left", async () => {
  const { id, owner, others } = await makeSyncedGroup(3, "Famille");
  const [ben] = others;
  if (!ben) throw new Error("too few");
  await sendTexts(owner, id, "Mbote");
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  const listed = async () =>
    ((await requestAs<{ rows: { conversation: string }[] }>(ben, "GET", "/api/conversations")) as { rows: object[] })
      .rows;
  expect(await listed()).toMatchObject([
    {
      conversation: id,
      kind: "group",
      unread: 1,
      preview: { type: "text", text: "Mbote" },
      group: { name: "Famille", picture: null, count: 3, role: "member", number: 1 },
    },
  ]);
  expect(await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`)).toBe(null);
  expect(await listed()).toMatchObject([{ conversation: id, open: false, unread: 0, preview: { event: "left" } }]);
  expect(await requestAs(ben, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  expect((await readLog(owner, id)).at(-1)).toMatchObject({ sender: 1, body: { event: "left" } });
  expect(await makeGroup(ben, "Encore", [owner], id)).toBe("group_exists");
});

test("a foreign group's object is not called, whether it exists or not, and the answer is the same", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const [stranger] = await makeFriends(1);
  const called: string[] = [];
  const CONVERSATION = {
    getByName: (name: string) => {
      called.push(name);
      return env.CONVERSATION.getByName(name);
    },
  };
  const answersOf = async (group: string) => {
    const routes: [string, string, unknown?][] = [
      ["GET", `/api/groups/${group}`],
      ["GET", `/api/groups/${group}/members`],
      ["GET", `/api/conversations/${group}/messages/1/receipts`],
      ["PATCH", `/api/groups/${group}`, { name: "Autre" }],
      ["DELETE", `/api/groups/${group}/members/${owner.id}`],
      ["DELETE", `/api/groups/${group}`],
    ];
    const answers: unknown[] = [];
    for (const [method, path, body] of routes) {
      const { status, body: errorBody } = await callWith({ CONVERSATION }, method, path, {
        token: stranger.token,
        body,
      });
      answers.push([method, status, errorBody]);
    }
    return answers;
  };
  const ofNone = await answersOf(createUuid());
  expect(ofNone.every((answer) => (answer as [string, number])[1] === 404)).toBe(true);
  expect(await answersOf(id)).toEqual(ofNone);
  expect(called).toEqual([]);
  expect((await callWith({ CONVERSATION }, "GET", `/api/groups/${id}`, { token: owner.token })).status).toBe(200);
  expect(called).toEqual([id]);
});
