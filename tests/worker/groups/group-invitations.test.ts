import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { Group, GroupCandidates, GroupInvitation, GroupInvitations, GroupWithInvited } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import { groupInvitationDays, groupMembersMax } from "#contract/limits/groups.ts";
import { askAgainDays, pendingRequestsMax } from "#contract/limits/people.ts";
import type { Person } from "#tests/support/people/people.ts";
import { request as command, readLog, readRow, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import {
  makeGroup,
  makeSyncedGroup,
  readMemberPage,
  requestAs,
  type SeededPerson,
} from "#tests/worker/support/make-group.ts";
import { befriend, seedContacts, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { deleteAccount, findTraces, finishDeletion } from "#tests/worker/support/stored-data.ts";
import { callWith, callWithLimits } from "#tests/worker/support/wrapped-site.ts";
import { openDb } from "#worker/db/client.ts";
import { purgeGroupInvitations } from "#worker/groups/invitation-queries.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Invitations to groups: who gets one, what it shows, and what may become of it. */

const dayMs = 24 * 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

const addTo = (id: string, by: Person, ...people: { id: string }[]) =>
  requestAs<GroupWithInvited>(by, "POST", `/api/groups/${id}/members`, { members: people.map((one) => one.id) });
const list = async (by: Person): Promise<GroupInvitation[]> =>
  ((await call("GET", "/api/group-invitations", { token: by.token })).body as GroupInvitations).invitations;
const first = async (by: Person): Promise<GroupInvitation> => {
  const [invitation] = await list(by);
  if (!invitation) throw new Error("no invitation");
  return invitation;
};
const answer = (by: Person, id: string, what: "accept" | "decline") =>
  requestAs<Group>(by, "POST", `/api/group-invitations/${id}/${what}`);
const leave = (by: Person, id: string) => requestAs(by, "DELETE", `/api/groups/${id}/members/${by.id}`);
const candidates = (by: Person, id: string) => requestAs<GroupCandidates>(by, "GET", `/api/groups/${id}/invitations`);
const withdraw = (by: Person, id: string, of: Person) =>
  requestAs(by, "DELETE", `/api/groups/${id}/invitations/${of.id}`);
const block = (by: Person, of: Person, method: "PUT" | "DELETE" = "PUT") =>
  call(method, `/api/blocks/${of.id}`, { token: by.token });
/** Number of invitations that the person's own devices know of. */
const countOf = async (person: Person): Promise<number> =>
  (await command(person, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === person.id)
    ?.group_invitations ?? 0;
const waitForCount = (person: Person, count: number) => waitUntil(async () => (await countOf(person)) === count);

/** Group of an owner with one member. Raised limits give everybody the highest trust tier. */
const makePairGroup = async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  return { id, owner, ben };
};

test("who left is invited again, reads nothing before accepting, and has one history afterwards", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others as [SeededPerson, SeededPerson];
  await sendTexts(cleo, id, "avant");
  await leave(ben, id);
  await sendTexts(cleo, id, "sans Ben");
  expect(await addTo(id, owner, ben)).toMatchObject({ count: 2, invited: [ben.id] });
  await waitForCount(ben, 1);
  const invitation = await first(ben);
  expect(invitation).toMatchObject({
    group: { id, name: "Famille", count: 2 },
    from_user: { id: owner.id, username: owner.username },
    is_contact: true,
    contacts: { count: 0, names: [] },
  });
  expect(await requestAs(ben, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  expect(await requestAs(ben, "GET", `/api/groups/${id}/members`)).toBe("group_not_found");
  expect(await candidates(ben, id)).toBe("group_not_found");
  expect(await sendTexts(ben, id, "déjà là")).toEqual({ error: "conversation_not_found" });
  expect((await readLog(ben, id)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(await answer(ben, invitation.id, "accept")).toMatchObject({ id, count: 3, role: "member" });
  await sendTexts(cleo, id, "te revoilà");
  await waitUntil(async () => (await readRow(ben, id)).head === 6);
  expect((await readLog(ben, id)).map(({ seq }) => seq)).toEqual([1, 2, 3, 5, 6]);
  expect((await readLog(cleo, id))[4]).toMatchObject({ sender: 1, body: { event: "joined" } });
  await waitForCount(ben, 0);
  expect(await list(ben)).toEqual([]);
});

test("a stranger is invited; the invitation shows neither picture nor member list, and only the invited may accept", async () => {
  const { id, owner, ben } = await makePairGroup();
  const [dan, eve] = [await seedPerson(), await seedPerson()];
  await befriend(dan, ben);
  await env.DB.prepare("UPDATE profiles SET avatar_url = ? WHERE id = ?").bind(createUuid(), owner.id).run();
  expect(await addTo(id, owner, dan)).toMatchObject({ count: 2, invited: [dan.id] });
  const invitation = await first(dan);
  expect(invitation).toMatchObject({
    from_user: { id: owner.id, avatar_url: null, phone: "" },
    is_contact: false,
    contacts: { count: 1, names: [ben.username] },
  });
  expect(Object.keys(invitation).sort()).toEqual(["contacts", "created_at", "from_user", "group", "id", "is_contact"]);
  for (const other of [eve, ben, owner]) {
    expect(await answer(other, invitation.id, "accept")).toBe("group_invitation_not_found");
    expect(await answer(other, invitation.id, "decline")).toBe("group_invitation_not_found");
  }
  for (const path of [`/api/groups/${id}`, `/api/groups/${id}/members`])
    expect(await requestAs(dan, "GET", path)).toBe("group_not_found");
  expect(await requestAs(dan, "GET", `/api/conversations/${id}/messages`)).toBe("conversation_not_found");
  // Neither a member without the permission nor a stranger invites, lists or withdraws.
  expect(await addTo(id, ben, eve)).toBe("not_allowed");
  expect([await candidates(ben, id), await withdraw(ben, id, dan)]).toEqual(["not_allowed", "not_allowed"]);
  expect([await candidates(eve, id), await withdraw(eve, id, dan)]).toEqual(["group_not_found", "group_not_found"]);
  expect(await getConversationStub(env, id).answerInvitation(eve.id, true)).toEqual({
    error: "group_invitation_not_found",
  });
  expect(await answer(dan, invitation.id, "accept")).toMatchObject({ count: 3 });
  // Again, by the other device or after a lost answer. Not after they left or were removed.
  expect(await answer(dan, invitation.id, "accept")).toMatchObject({ count: 3 });
  expect(await answer(dan, invitation.id, "decline")).toBe("group_invitation_not_found");
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${dan.id}`);
  expect(await answer(dan, invitation.id, "accept")).toBe("group_invitation_not_found");
});

test("the answer does not tell why somebody is invited: left, settings, no contact or a block", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [left, blocker, unwilling] = others as [SeededPerson, SeededPerson, SeededPerson];
  const [stranger, blockingStranger, declining] = [await seedPerson(), await seedPerson(), await seedPerson()];
  for (const one of [left, blocker]) await leave(one, id);
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${unwilling.id}`);
  await block(blocker, owner);
  await block(blockingStranger, owner);
  await call("PATCH", "/api/settings", { token: unwilling.token, body: { groupAdds: "nobody" } });
  await addTo(id, owner, declining);
  await answer(declining, (await first(declining)).id, "decline");
  await withdraw(owner, id, declining);
  const invited = [left, blocker, unwilling, stranger, blockingStranger, declining];
  const answers: unknown[] = [];
  for (const one of invited) {
    const { status, body } = await call("POST", `/api/groups/${id}/members`, {
      token: owner.token,
      body: { members: [one.id] },
    });
    answers.push(JSON.stringify([status, body]).replaceAll(one.id, "one"));
  }
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('"invited":["one"]');
  const found = await candidates(owner, id);
  if (found === null || typeof found === "string") throw new Error(`${found}`);
  expect(found.invited.map(({ profile }) => profile.id).sort()).toEqual(invited.map((one) => one.id).sort());
  expect((await list(blocker)).length + (await list(blockingStranger)).length + (await list(declining)).length).toBe(0);
  // Each counts for its sender: the number that is left tells nothing either.
  const { body } = await call("GET", "/api/allowance", { token: owner.token });
  expect(body).toMatchObject({ requests: { per_day: 50, left: 46 } });
  await block(blocker, owner, "DELETE");
  expect(await list(blocker)).toHaveLength(1);
});

test("contacts who allow it are added at once, also after they were removed; those of a blocked person never", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others as [SeededPerson, SeededPerson];
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  expect(await addTo(id, owner, ben)).toMatchObject({ count: 3, invited: [] });
  const stranger = await seedPerson();
  await block(owner, stranger);
  expect(await addTo(id, owner, stranger)).toBe("contact_blocked");
  expect(await addTo(id, owner, { id: createUuid() })).toBe("user_not_found");
  // Members are not invited, whatever they set since.
  await call("PATCH", "/api/settings", { token: cleo.token, body: { groupAdds: "nobody" } });
  expect(await addTo(id, owner, cleo)).toMatchObject({ count: 3, invited: [] });
  expect(await list(cleo)).toEqual([]);
});

test("a group can be created with people who have to be invited, once", async () => {
  const { owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others as [SeededPerson, SeededPerson];
  await call("PATCH", "/api/settings", { token: cleo.token, body: { groupAdds: "nobody" } });
  const id = createUuid();
  for (let n = 0; n < 2; n++)
    expect(await makeGroup(owner, "Encore", [ben, cleo], id)).toMatchObject({ count: 2, invited: [cleo.id] });
  expect(await list(cleo)).toMatchObject([{ group: { id, name: "Encore", count: 2 } }]);
  const alone = createUuid();
  expect(await makeGroup(owner, "Seule", [cleo], alone)).toMatchObject({ count: 1 });
  const [invitation] = await list(cleo);
  expect(await answer(cleo, invitation?.id ?? "", "accept")).toMatchObject({ id: alone, count: 2 });
});

test("a declined invitation is not told apart, and the next ones wait for 1, 7 and 30 days", async () => {
  const { id, owner, ben } = await makePairGroup();
  const dan = await seedPerson();
  const passDays = (days: number) =>
    env.DB.prepare(
      "UPDATE group_invitations SET created_at = created_at - ?1, updated_at = updated_at - ?1 WHERE to_user_id = ?2",
    )
      .bind(days * dayMs, dan.id)
      .run();
  for (const days of askAgainDays) {
    await addTo(id, owner, dan);
    expect(await answer(dan, (await first(dan)).id, "decline")).toBe(null);
    await waitForCount(dan, 0);
    expect(await candidates(owner, id)).toMatchObject({ invited: [{ profile: { id: dan.id } }] });
    expect(await getConversationStub(env, id).answerInvitation(dan.id, true)).toMatchObject({
      error: expect.any(String),
    });
    for (const share of [0, 0.9]) {
      await passDays(days * share);
      await withdraw(owner, id, dan);
      expect(await addTo(id, owner, dan)).toMatchObject({ invited: [dan.id] });
      expect(await list(dan)).toEqual([]);
    }
    await passDays(days * 0.2);
    await withdraw(owner, id, dan);
  }
  await addTo(id, owner, dan);
  expect(await list(dan)).toHaveLength(1);
  expect((await readMemberPage(ben, id)).count).toBe(2);
});

test("an invitation ends when it is withdrawn, expires, or its sender no longer owns the group, and then cannot be accepted", async () => {
  const ends: ((id: string, owner: Person, ben: Person, dan: Person) => Promise<unknown>)[] = [
    (id, owner, _, dan) => withdraw(owner, id, dan),
    (id, owner) => requestAs(owner, "DELETE", `/api/groups/${id}`),
    (id, owner, ben) => requestAs(owner, "PUT", `/api/groups/${id}/owner`, { user_id: ben.id }),
    async (id, owner, ben) => {
      await requestAs(owner, "PUT", `/api/groups/${id}/owner`, { user_id: ben.id });
      await requestAs(ben, "DELETE", `/api/groups/${id}/members/${owner.id}`);
    },
    (id, owner) => leave(owner, id),
    async () => {
      vi.spyOn(Date, "now").mockReturnValue(Date.now() + groupInvitationDays * dayMs);
    },
  ];
  for (const end of ends) {
    const { id, owner, ben } = await makePairGroup();
    const dan = await seedPerson();
    await addTo(id, owner, dan);
    const invitation = await first(dan);
    await end(id, owner, ben, dan);
    const isExpired = vi.isMockFunction(Date.now);
    const stub = getConversationStub(env, id);
    expect(await stub.answerInvitation(dan.id, true)).toEqual({ error: "group_invitation_not_found" });
    expect(await stub.findInvitation(dan.id, [])).toEqual({ error: "group_invitation_not_found" });
    if (isExpired) await purgeGroupInvitations(openDb(env), Date.now(), 100);
    vi.restoreAllMocks();
    expect(await answer(dan, invitation.id, "accept")).toBe("group_invitation_not_found");
    expect(await list(dan)).toEqual([]);
    await waitForCount(dan, 0);
  }
});

test("of an acceptance and a withdrawal or the group's end at the same moment, one has its effect", async () => {
  const rivals: ((id: string, owner: Person, dan: Person, invitation: string) => Promise<unknown>)[] = [
    (id, owner, dan) => withdraw(owner, id, dan),
    (id, owner) => requestAs(owner, "DELETE", `/api/groups/${id}`),
    (_, __, dan, invitation) => answer(dan, invitation, "decline"),
  ];
  for (const rival of rivals) {
    const { id, owner } = await makePairGroup();
    const dan = await seedPerson();
    await addTo(id, owner, dan);
    const invitation = await first(dan);
    const [accepted, rivalAnswer] = await Promise.all([
      answer(dan, invitation.id, "accept"),
      rival(id, owner, dan, invitation.id),
    ]);
    const members = await getConversationStub(env, id).findMembers(owner.id, [dan.id]);
    const isEnded = (await requestAs(owner, "GET", `/api/groups/${id}`)) === "group_not_found";
    if (typeof accepted === "string") expect(members).toEqual([]);
    else if (!isEnded) expect(members).toEqual([dan.id]);
    if (rival === rivals[0]) expect(typeof accepted === "string").toBe(rivalAnswer === null);
    await waitForCount(dan, 0);
  }
});

test("an invitation that was accepted cannot be withdrawn, a withdrawn one again", async () => {
  const { id, owner } = await makePairGroup();
  const [dan, eve] = [await seedPerson(), await seedPerson()];
  for (const person of [dan, eve]) await addTo(id, owner, person);
  await answer(dan, (await first(dan)).id, "accept");
  expect(await withdraw(owner, id, dan)).toBe("group_invitation_not_found");
  expect(await getConversationStub(env, id).findMembers(owner.id, [dan.id])).toEqual([dan.id]);
  expect([await withdraw(owner, id, eve), await withdraw(owner, id, eve)]).toEqual([null, null]);
});

test("two devices that accept at the same moment join once", async () => {
  const { id, owner } = await makePairGroup();
  const dan = await seedPerson();
  await addTo(id, owner, dan);
  const invitation = await first(dan);
  const both = await Promise.all([answer(dan, invitation.id, "accept"), answer(dan, invitation.id, "accept")]);
  expect(both).toMatchObject([{ count: 3 }, { count: 3 }]);
  expect(
    (await readLog(owner, id)).filter(({ body }) => body.type === "event" && body.event === "joined"),
  ).toHaveLength(1);
});

test("a full group refuses with that reason, and the invitation stays for later", async () => {
  const { id, owner, ben } = await makePairGroup();
  const dan = await seedPerson();
  await addTo(id, owner, dan);
  const people = (await seedContacts(owner, groupMembersMax - 2)).map((user) => ({ user, isHidden: true }));
  const stub = getConversationStub(env, id);
  expect(await stub.runGroupCommand(owner.id, { type: "add", people })).toMatchObject({
    count: groupMembersMax,
  });
  const invitation = await first(dan);
  expect(await answer(dan, invitation.id, "accept")).toBe("group_full");
  await leave(ben, id);
  expect(await answer(dan, invitation.id, "accept")).toMatchObject({ count: groupMembersMax });
});

test("who blocks the sender sees the invitation no more and cannot accept it until they unblock", async () => {
  const { id, owner } = await makePairGroup();
  const dan = await seedPerson();
  await addTo(id, owner, dan);
  await waitForCount(dan, 1);
  const invitation = await first(dan);
  await block(dan, owner);
  await waitForCount(dan, 0);
  expect(await list(dan)).toEqual([]);
  expect(await answer(dan, invitation.id, "accept")).toBe("contact_blocked");
  expect(await answer(dan, invitation.id, "decline")).toBe("group_invitation_not_found");
  expect(await candidates(owner, id)).toMatchObject({ invited: [{ profile: { id: dan.id } }] });
  await block(dan, owner, "DELETE");
  await waitForCount(dan, 1);
  expect(await answer(dan, invitation.id, "accept")).toMatchObject({ count: 3 });
});

test("a block and its end reach the blocked person's channel only if an invitation of the blocker waits there", async () => {
  const { id, owner, ben } = await makePairGroup();
  const [dan, eve] = [await seedPerson(), await seedPerson()];
  await addTo(id, owner, dan);
  await waitForCount(dan, 1);
  /** How often the channel of the other person is addressed. */
  const count = async (method: "PUT" | "DELETE", by: Person, of: Person): Promise<number> => {
    const addressed: string[] = [];
    const getByName = (name: string) => {
      addressed.push(name);
      return env.USER_CHANNEL.getByName(name);
    };
    const path = `/api/blocks/${of.id}`;
    expect(await callWith({ USER_CHANNEL: { getByName } }, method, path, { token: by.token })).toMatchObject({
      status: 200,
    });
    return addressed.filter((name) => name === of.id).length;
  };
  expect([await count("PUT", owner, dan), await countOf(dan)]).toEqual([1, 0]);
  expect([await count("DELETE", owner, dan), await countOf(dan)]).toEqual([1, 1]);
  // A contact, who gets the present picture at the end; a stranger; and the recipient of the invitation as the blocker
  expect([await count("PUT", owner, ben), await count("DELETE", owner, ben)]).toEqual([0, 1]);
  expect([await count("PUT", owner, eve), await count("DELETE", owner, eve)]).toEqual([0, 0]);
  expect([await count("PUT", dan, owner), await count("DELETE", dan, owner)]).toEqual([0, 0]);
});

test("invitations share the limits of contact requests, of the sender and of the recipient", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(owner.id).run();
  const invite = (person: Person) =>
    callWithLimits("POST", `/api/groups/${id}/members`, { token: owner.token, body: { members: [person.id] } });
  for (let n = 0; n < 5; n++) expect((await invite(await seedPerson())).status).toBe(200);
  const late = await seedPerson();
  expect(await invite(late)).toMatchObject({ status: 429, body: { error_code: "requests_used_up" } });
  const asked = await callWithLimits("POST", "/api/requests", { token: owner.token, body: { to_user_id: late.id } });
  expect(asked.body).toMatchObject({ error_code: "requests_used_up" });

  const [full, closed, group] = [await seedPerson(), await seedPerson(), await makePairGroup()];
  const insert = "INSERT INTO group_invitations VALUES (?, ?, ?, ?, 0, 'pending', ?, 1)";
  const rows = Array.from({ length: pendingRequestsMax }, () =>
    env.DB.prepare(insert).bind(createUuid(), createUuid(), createUuid(), full.id, Date.now() - 2 * dayMs),
  );
  await env.DB.batch(rows);
  await call("PATCH", "/api/settings", { token: closed.token, body: { requestsFrom: "nobody" } });
  for (const one of [full, closed]) expect(await addTo(group.id, group.owner, one)).toBe("request_not_possible");
  const sender = await seedPerson();
  expect(await requestAs(sender, "POST", "/api/requests", { to_user_id: full.id })).toBe("request_not_possible");
});

test("a deleted account leaves no trace in the groups that invited it, and takes its own invitations along", async () => {
  const { id, owner, ben } = await makePairGroup();
  const [dan, eve] = [await seedPerson(), await seedPerson()];
  await addTo(id, owner, dan, eve);
  await waitForCount(eve, 1);
  await deleteAccount(dan);
  await finishDeletion(dan.id);
  expect(await findTraces(dan, [owner.id, ben.id], [id])).toEqual([]);
  expect(await candidates(owner, id)).toMatchObject({ invited: [{ profile: { id: eve.id } }] });
  await deleteAccount(owner);
  await finishDeletion(owner.id);
  await waitForCount(eve, 0);
  expect(await list(eve)).toEqual([]);
});
