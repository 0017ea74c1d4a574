import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Group } from "#contract/groups.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { groupMembersMax, groupNameMaxLength } from "#contract/limits/groups.ts";
import { readLog, readRow } from "#tests/worker/support/device.ts";
import {
  makeFriends,
  makeGroup,
  readMemberPage,
  requestAs,
  type SeededPerson,
} from "#tests/worker/support/make-group.ts";
import { seedContacts } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { openDb } from "#worker/db/client.ts";
import { planNewMembers } from "#worker/groups/queries.ts";
import { insertBlock } from "#worker/people/block-queries.ts";

const trio = async () => (await makeFriends(3)) as [SeededPerson, SeededPerson, SeededPerson];
const make = (token: string, body: unknown) => call("POST", "/api/groups", { token, body });
const refusal = (status: number, error_code: string) => ({ status, body: { code: status, error_code } });

test("creating a group again with its id returns the existing group, whatever became of the contacts", async () => {
  const [ana, ben, cleo] = await trio();
  const body = { id: createUuid(), name: "Famille", members: [ben.id, cleo.id] };
  const first = await make(ana.token, body);
  expect(first).toMatchObject({ status: 200, body: { id: body.id, name: "Famille", count: 3, created_by: ana.id } });
  const again = await Promise.all([make(ana.token, body), make(ana.token, { ...body, name: "Autre" })]);
  for (const { body } of again) expect(body).toEqual(first.body);
  await call("DELETE", `/api/contacts/${ben.id}`, { token: ana.token });
  expect((await make(ana.token, body)).body).toEqual(first.body);
  await call("PUT", `/api/blocks/${cleo.id}`, { token: ana.token });
  expect((await make(ana.token, body)).body).toEqual(first.body);
  expect(await readLog(ana, body.id)).toHaveLength(1);
  // Another person who knows the id gets nothing by it.
  expect(await make(ben.token, { ...body, members: [ana.id] })).toMatchObject(refusal(409, "group_exists"));
  const [dan, eve] = await makeFriends(2);
  expect(await make(dan.token, { ...body, members: [eve?.id] })).toMatchObject(refusal(409, "group_exists"));
});

test("a group contains each person once, including its creator", async () => {
  const [ana, ben, cleo] = await trio();
  const id = createUuid();
  expect(await make(ana.token, { id, name: "N", members: [ben.id, ana.id, ben.id, cleo.id, ben.id] })).toMatchObject({
    status: 200,
    body: { count: 3 },
  });
  const { members } = await readMemberPage(ana, id);
  expect(members.map(({ profile }) => profile?.id)).toEqual([ana.id, ben.id, cleo.id]);
});

test("initial members must have an account, and there must be at least one", async () => {
  const [ana, ben] = await trio();
  const id = createUuid();
  const nobody = createUuid();
  for (const [members, expected] of [
    [[], refusal(400, "group_without_members")],
    [[ana.id], refusal(400, "group_without_members")],
    [[nobody], refusal(404, "user_not_found")],
    [[ben.id, nobody], refusal(404, "user_not_found")],
    [Array.from({ length: groupMembersMax }, () => createUuid()), refusal(409, "group_full")],
    [Array.from({ length: groupMembersMax - 1 }, () => createUuid()), refusal(429, "requests_used_up")],
  ] as const) {
    expect(await make(ana.token, { id, name: "Famille", members })).toMatchObject(expected);
  }
  expect(await requestAs<Group>(ana, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  await expect(readRow(ana, id)).rejects.toThrow("no such row");
});

test("of 1,023 people each is recognised as contact, blocking person or neither", async () => {
  const [ana] = await makeFriends(1);
  const people = await seedContacts(ana, groupMembersMax - 1);
  const db = openDb(env);
  const newcomers = await planNewMembers(db, ana.id, people);
  expect(newcomers).toEqual({ added: people.map((user) => ({ user, isHidden: false })), invited: [] });
  const one = people[700] as Uuid;
  await insertBlock(db, one, ana.id);
  const added = people.map((user) => ({ user, isHidden: user === one }));
  expect(await planNewMembers(db, ana.id, people)).toEqual({ added, invited: [] });
  await env.DB.prepare("DELETE FROM connections WHERE ? IN (user1_id, user2_id)").bind(people[1_000]).run();
  const stranger = people[1_000] as Uuid;
  expect(await planNewMembers(db, ana.id, people)).toEqual({
    added: added.filter(({ user }) => user !== stranger),
    invited: [{ user: stranger, isContact: false }],
  });
});

test.each([
  ["nothing", undefined],
  ["a list", []],
  ["no id", { name: "Famille", members: [createUuid()] }],
  ["a private conversation's id", { id: `${createUuid()}.${createUuid()}`, name: "F", members: [createUuid()] }],
  ["an id in capitals", { id: createUuid().toUpperCase(), name: "F", members: [createUuid()] }],
  ["no members", { id: createUuid(), name: "Famille" }],
  ["a member that is a number", { id: createUuid(), name: "Famille", members: [7] }],
  ["members that are one", { id: createUuid(), name: "Famille", members: createUuid() }],
  ["an owner", { id: createUuid(), name: "F", members: [createUuid()], created_by: createUuid() }],
  ["a picture", { id: createUuid(), name: "F", members: [createUuid()], picture: "x" }],
])("%s creates no group", async (_, body) => {
  const [ana] = await makeFriends(1);
  expect(await make(ana.token, body)).toMatchObject(refusal(400, "invalid_input"));
});

const longest = "x".repeat(groupNameMaxLength);
test.each([
  ["", undefined],
  ["   \n\t ", undefined],
  ["\u200b\u2060", undefined],
  ["\u3164", undefined],
  [`${longest}x`, undefined],
  ["Famille\u202egnp.exe", undefined],
  ["\u2066Famille\u2069", undefined],
  ["Fam\u00adille", undefined],
  ["Fam\u0000ille", undefined],
  ["Famille\ud83d", undefined],
  ["\u{e0041}\u{e0042}", undefined],
  [longest, longest],
  [`  ${longest}  `, longest],
  ["Les  amis\n de\tMatonge ", "Les amis de Matonge"],
  ["E\u0301te\u0301", "Été"],
  [
    '<img src=x onerror="alert(1)"><script>alert(1)</script>',
    '<img src=x onerror="alert(1)"><script>alert(1)</script>',
  ],
  ["'); DROP TABLE members;--", "'); DROP TABLE members;--"],
  ["{{7*7}} %s \\u0041", "{{7*7}} %s \\u0041"],
  ["مجموعة العائلة", "مجموعة العائلة"],
  ["Famille 👨‍👩‍👧‍👦 🇨🇩", "Famille 👨‍👩‍👧‍👦 🇨🇩"],
])("the name %j is stored as %j, or refused", async (name, kept) => {
  const [ana, ben] = await makeFriends(2);
  const id = createUuid();
  const made = await make(ana.token, { id, name, members: [ben?.id] });
  if (kept === undefined) {
    expect(made).toMatchObject(refusal(400, "invalid_group_name"));
    expect(await requestAs<Group>(ana, "GET", `/api/groups/${id}`)).toBe("group_not_found");
    return;
  }
  expect(made).toMatchObject({ status: 200, body: { name: kept } });
  expect(made.headers.get("content-type")).toBe("application/json");
  expect(made.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await readRow(ana, id)).group).toMatchObject({ name: kept });
  expect((await readLog(ana, id))[0]).toMatchObject({ body: { event: "created", name: kept } });
});

test("too many new groups are refused with the time to wait, and invalid input does not count", async () => {
  const [ana, ben] = await makeFriends(2);
  if (!ben) throw new Error("too few");
  await drainBucket("group_by_user", ana.id);
  expect(await make(ana.token, { id: createUuid(), name: "", members: [] })).toMatchObject({ status: 400 });
  const refused = await make(ana.token, { id: createUuid(), name: "Trop", members: [ben.id] });
  expect(refused).toMatchObject(refusal(429, "rate_limited"));
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await makeGroup(ben, "Pas trop", [ana])).toMatchObject({ count: 2 });
});

test("an unreachable group is reported as unavailable, and creating it again succeeds", async () => {
  const [ana, ben] = await makeFriends(2);
  if (!ben) throw new Error("too few");
  const body = { id: createUuid(), name: "Famille", members: [ben.id] };
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const broken = () => Promise.reject(Object.assign(new Error("the way there broke"), { retryable: true }));
  for (const methods of [{ createGroup: broken }, { getGroup: broken }]) {
    const CONVERSATION = overrideMethods(env.CONVERSATION, methods);
    const answer = await callWith({ CONVERSATION }, "POST", "/api/groups", { token: ana.token, body });
    expect(answer).toMatchObject(refusal(503, "unavailable"));
  }
  log.mockRestore();
  expect(await make(ana.token, body)).toMatchObject({ status: 200, body: { count: 2, roster: 1 } });
  expect(await readLog(ana, body.id)).toHaveLength(1);
});
