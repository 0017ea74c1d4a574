import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { GroupCandidates, GroupInvitations, GroupWithInvited } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import type { Allowance } from "#contract/settings/trust-tiers.ts";
import type { Person } from "#tests/support/people/people.ts";
import { request as command, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs, type SeededPerson } from "#tests/worker/support/make-group.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { callWithLimits } from "#tests/worker/support/wrapped-site.ts";
import { openDb } from "#worker/db/client.ts";
import { purgeGroupInvitations } from "#worker/groups/invitation-queries.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Limits of invitations to groups: all of a request's invitations arrive, or none is sent. */

const dayMs = 24 * 3_600_000;

const addTo = (id: string, by: Person, ...people: { id: string }[]) =>
  requestAs<GroupWithInvited>(by, "POST", `/api/groups/${id}/members`, { members: people.map((one) => one.id) });
const addWithLimits = (id: string, by: Person, ...people: { id: string }[]) =>
  callWithLimits("POST", `/api/groups/${id}/members`, {
    token: by.token,
    body: { members: people.map((one) => one.id) },
  });
const list = async (by: Person) =>
  ((await call("GET", "/api/group-invitations", { token: by.token })).body as GroupInvitations).invitations;
const candidates = (by: Person, id: string) => requestAs<GroupCandidates>(by, "GET", `/api/groups/${id}/invitations`);
const seedPeople = (count: number) => Promise.all(Array.from({ length: count }, () => seedPerson()));
const countReceived = async (people: readonly Person[]) =>
  (await Promise.all(people.map(list))).filter(({ length }) => length > 0).length;

/** Group of an owner with the trust tier "confirmed", who may invite five strangers a day. */
const makeConfirmedGroup = async () => {
  const { id, owner } = await makeSyncedGroup(2);
  await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(owner.id).run();
  return { id, owner };
};

test("a request with more strangers than the sender may invite today invites none", async () => {
  const { id, owner } = await makeConfirmedGroup();
  const people = await seedPeople(8);
  expect(await addWithLimits(id, owner, ...people)).toMatchObject({
    status: 429,
    body: { error_code: "requests_used_up" },
  });
  expect(await candidates(owner, id)).toMatchObject({ invited: [] });
  expect(await countReceived(people)).toBe(0);
  expect(await addWithLimits(id, owner, ...people.slice(0, 5))).toMatchObject({ status: 200 });
  expect(await countReceived(people)).toBe(5);
});

test("of concurrent requests beyond the limit, each names the people who were invited, and only they are", async () => {
  const { id, owner } = await makeConfirmedGroup();
  const people = await seedPeople(9);
  const answers = await Promise.all(
    [0, 3, 6].map((first) => addWithLimits(id, owner, ...people.slice(first, first + 3))),
  );
  const named = answers.flatMap(({ status, body }) => (status === 200 ? (body as GroupWithInvited).invited : []));
  const found = await candidates(owner, id);
  if (found === null || typeof found === "string") throw new Error(`${found}`);
  expect(found.invited.map(({ profile }) => profile.id).sort()).toEqual(named.toSorted());
  expect(await countReceived(people)).toBe(named.length);
  expect(named.length).toBeLessThanOrEqual(5);
});

test("an invitation that only the group has stored arrives when it is repeated, once", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const dan = await seedPerson();
  await getConversationStub(env, id).runGroupCommand(owner.id, { type: "add", people: [], invited: [dan.id] });
  expect(await list(dan)).toEqual([]);
  for (let n = 0; n < 2; n++) expect(await addTo(id, owner, dan)).toMatchObject({ invited: [dan.id] });
  expect(await list(dan)).toHaveLength(1);
  const { results } = await env.DB.prepare("SELECT 1 FROM group_invitations WHERE to_user_id = ?").bind(dan.id).all();
  expect(results).toHaveLength(1);
});

test("open invitations count for the size of a group that the sender's tier allows", async () => {
  const { id, owner } = await makeConfirmedGroup();
  const waiting = await seedPeople(48);
  const invited = waiting.map((one) => one.id);
  await getConversationStub(env, id).runGroupCommand(owner.id, { type: "add", people: [], invited });
  const dan = await seedPerson();
  expect(await addWithLimits(id, owner, dan)).toMatchObject({ body: { error_code: "group_members_limited" } });
  await requestAs(owner, "DELETE", `/api/groups/${id}/invitations/${waiting[0]?.id}`);
  expect(await addWithLimits(id, owner, dan)).toMatchObject({ status: 200 });
});

const readTier = async (person: Person) =>
  ((await callWithLimits("GET", "/api/allowance", { token: person.token })).body as Allowance).tier;

test("invitations that strangers decline lower the tier of their sender, as declined requests do", async () => {
  const { id, owner } = await makeConfirmedGroup();
  const people = await seedPeople(5);
  await addWithLimits(id, owner, ...people);
  expect(await readTier(owner)).toBe("confirmed");
  for (const person of people) {
    const [invitation] = await list(person);
    await requestAs(person, "POST", `/api/group-invitations/${invitation?.id}/decline`);
  }
  expect(await readTier(owner)).toBe("new");
});

test("blocks by invited strangers lower the tier of their sender from the next day on", async () => {
  const { id, owner } = await makeConfirmedGroup();
  const people = await seedPeople(3);
  await addWithLimits(id, owner, ...people);
  for (const person of people) await call("PUT", `/api/blocks/${owner.id}`, { token: person.token });
  expect(await readTier(owner)).toBe("confirmed");
  await env.DB.prepare("UPDATE blocks SET created_at = created_at - ? WHERE blocked_user_id = ?")
    .bind(dayMs, owner.id)
    .run();
  expect(await readTier(owner)).toBe("new");
});

test("one person invites another three times a day, and withdrawn invitations leave the recipient's room free", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others as [SeededPerson, SeededPerson];
  for (const one of [ben, cleo]) await requestAs(one, "DELETE", `/api/groups/${id}/members/${one.id}`);
  await call("PUT", `/api/blocks/${owner.id}`, { token: cleo.token });
  for (const one of [ben, cleo]) {
    for (let n = 0; n < 3; n++) {
      expect(await addTo(id, owner, one)).toMatchObject({ invited: [one.id] });
      await requestAs(owner, "DELETE", `/api/groups/${id}/invitations/${one.id}`);
    }
    expect(await addTo(id, owner, one)).toBe("requests_used_up");
  }
  // 9 of 10 others today
  const insert = "INSERT INTO group_invitations VALUES (?, ?, ?, ?, 0, 'pending', ?, 1)";
  const rows = Array.from({ length: 9 }, () =>
    env.DB.prepare(insert).bind(createUuid(), createUuid(), createUuid(), ben.id, Date.now()),
  );
  await env.DB.batch(rows);
  const stranger = await seedPerson();
  const request = { to_user_id: ben.id };
  expect(await requestAs(stranger, "POST", "/api/requests", request)).not.toBe("request_not_possible");
});

test("a contact request waits after a declined invitation, without saying so, and reaches the person later", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const [dan, eve] = [await seedPerson(), await seedPerson()];
  await addTo(id, owner, dan, eve);
  const ask = (to: Person) =>
    callWithLimits("POST", "/api/requests", { token: owner.token, body: { to_user_id: to.id } });
  const [invitation] = await list(dan);
  await requestAs(dan, "POST", `/api/group-invitations/${invitation?.id}/decline`);
  await call("PATCH", "/api/settings", { token: eve.token, body: { requestsFrom: "nobody" } });
  const [declined, closed] = [await ask(dan), await ask(eve)];
  expect(declined).toMatchObject({ status: 429, body: { error_code: "request_not_possible" } });
  expect(declined).toEqual(closed);
  await env.DB.prepare("UPDATE group_invitations SET updated_at = updated_at - ? WHERE to_user_id = ?")
    .bind(dayMs, dan.id)
    .run();
  expect(await ask(dan)).toMatchObject({ status: 200 });
});

const readStatuses = async (to: Person) =>
  (await env.DB.prepare("SELECT status FROM group_invitations WHERE to_user_id = ?").bind(to.id).all()).results.map(
    ({ status }) => status,
  );
const accept = (by: Person, invitation: string | undefined) =>
  requestAs<GroupWithInvited>(by, "POST", `/api/group-invitations/${invitation}/accept`);
const countOf = async (person: Person) =>
  (await command(person, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === person.id)
    ?.group_invitations ?? 0;

test("somebody whom the owner blocks neither sees nor accepts the invitation until they are unblocked", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const dan = await seedPerson();
  await addTo(id, owner, dan);
  const [invitation] = await list(dan);
  await waitUntil(async () => (await countOf(dan)) === 1);
  await call("PUT", `/api/blocks/${dan.id}`, { token: owner.token });
  await waitUntil(async () => (await countOf(dan)) === 0);
  expect(await list(dan)).toEqual([]);
  expect(await accept(dan, invitation?.id)).toBe("group_invitation_not_found");
  await call("DELETE", `/api/blocks/${dan.id}`, { token: owner.token });
  await waitUntil(async () => (await countOf(dan)) === 1);
  expect(await accept(dan, invitation?.id)).toMatchObject({ count: 3 });
});

test("who joined accepts again although the list was read before the directory knew of it", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const dan = await seedPerson();
  await addTo(id, owner, dan);
  const [invitation] = await list(dan);
  await getConversationStub(env, id).answerInvitation(dan.id, true);
  expect(await list(dan)).toEqual([]);
  expect(await accept(dan, invitation?.id)).toMatchObject({ id, count: 3 });
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${dan.id}`);
  expect(await accept(dan, invitation?.id)).toBe("group_invitation_not_found");
});

test("the invitation of somebody who became a contact and was added ends", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const dan = await seedPerson();
  await addTo(id, owner, dan);
  await befriend(owner, dan);
  expect(await addTo(id, owner, dan)).toMatchObject({ count: 3, invited: [] });
  expect(await readStatuses(dan)).toEqual(["withdrawn"]);
});

test("all people invited by one request can be withdrawn, and expired invitations are purged a few at a time", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const people = await seedPeople(45);
  expect(await addTo(id, owner, ...people)).toMatchObject({ count: 2 });
  const found = await candidates(owner, id);
  expect(found).toMatchObject({ invited: { length: 45 } });
  await env.DB.prepare("UPDATE group_invitations SET created_at = created_at - ? WHERE from_user_id = ?")
    .bind(31 * dayMs, owner.id)
    .run();
  await purgeGroupInvitations(openDb(env), Date.now(), 2);
  const { results } = await env.DB.prepare(
    "SELECT count(*) AS n FROM group_invitations WHERE from_user_id = ? AND status = 'pending'",
  )
    .bind(owner.id)
    .all();
  expect(results).toEqual([{ n: 43 }]);
});
