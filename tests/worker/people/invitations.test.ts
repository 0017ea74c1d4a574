import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { invitationDays, invitationUsesMax } from "#contract/names/invitation.ts";
import type { Relation } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { startAccountDeletion } from "#worker/account/queries.ts";
import { findOwnInvitation, insertInvitation, purgeInvitations } from "#worker/contacts/invitation-queries.ts";
import { openDb } from "#worker/db/client.ts";

type Invitation = { url: string; expires_at: number; uses_left: number } | null;

const sendInvitation = async (method: string, person: Person): Promise<Invitation> => {
  const answer = await call(method, "/api/invitation", { token: person.token });
  expect(answer.status).toBe(200);
  return (answer.body as { invitation: Invitation }).invitation;
};
const toToken = (invitation: Invitation): string => invitation?.url.split("/i/")[1] ?? "";
const createToken = async (person: Person): Promise<string> => toToken(await sendInvitation("POST", person));
const accept = (by: Person, token: string) =>
  call("POST", "/api/invitations/accept", { token: by.token, body: { token } });
const gone = { status: 404, body: { error_code: "invitation_not_found" } };
const countUses = async (person: Person): Promise<number | undefined> =>
  (await findOwnInvitation(openDb(env), person.id))?.uses;
const listContactIds = async (person: Person): Promise<string[]> =>
  ((await call("GET", "/api/contacts", { token: person.token })).body as { contacts: { id: string }[] }).contacts.map(
    ({ id }) => id,
  );
const expireInvitation = (person: Person) =>
  env.DB.prepare("UPDATE invitations SET expires_at = ? WHERE user_id = ?").bind(Date.now(), person.id).run();
const visit = (path: string, init: RequestInit = {}) =>
  exports.default.fetch(site.origin + path, { redirect: "manual", ...init });

test("whoever accepts an invitation is connected with its sender on both sides, and may write at once", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  expect(await sendInvitation("GET", ana)).toBeNull();
  const created = await sendInvitation("POST", ana);
  expect(created).toMatchObject({ uses_left: invitationUsesMax });
  expect(created?.expires_at).toBeGreaterThan(Date.now() + (invitationDays - 1) * 86_400_000);
  // Another tap on the button does not end the link that was sent.
  expect(await sendInvitation("POST", ana)).toEqual(created);
  const answer = await accept(ben, toToken(created));
  expect(answer).toMatchObject({
    status: 200,
    body: { state: "contact", profile: { id: ana.id, username: ana.username } },
  });
  expect(await listContactIds(ana)).toEqual([ben.id]);
  expect(await listContactIds(ben)).toEqual([ana.id]);
  const path = `/api/conversations/${privateConversationId(ana.id, ben.id)}/messages`;
  const body = { messages: [{ cid: createUuid(), body: { type: "text", text: "Mbote" } }] };
  expect((await call("POST", path, { token: ben.token, body })).status).toBe(200);
  // Accepted once more, by another tab: nothing is used up.
  expect((await accept(ben, toToken(created))).status).toBe(200);
  expect(await countUses(ana)).toBe(1);
});

test("a request between the two, in either direction, is accepted with the invitation", async () => {
  const [ana, ben, cal] = [await makePerson(), await makePerson(), await makePerson()];
  const token = await createToken(ana);
  await call("POST", "/api/requests", { token: ben.token, body: { to_user_id: ana.id } });
  await call("POST", "/api/requests", { token: ana.token, body: { to_user_id: cal.id } });
  for (const person of [ben, cal])
    expect((await accept(person, token)).body).toMatchObject({ state: "contact" } satisfies Partial<Relation>);
  const requests = await call("GET", "/api/requests", { token: ana.token });
  expect(requests.body).toMatchObject({ received: [], sent: [] });
});

test("an invitation that is revoked, expired, unknown or of a deleted account connects nobody, and all look alike", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const revoked = await createToken(ana);
  expect(await sendInvitation("DELETE", ana)).toBeNull();
  const expired = await createToken(ana);
  await expireInvitation(ana);
  expect(await sendInvitation("GET", ana)).toBeNull();
  for (const token of [revoked, expired, "A".repeat(22), "", "x", `${revoked}x`]) {
    expect(await accept(ben, token)).toMatchObject(gone);
    const page = await visit(`/i/${token}`);
    expect(page.status).toBe(404);
    expect(await page.text()).not.toContain(ana.username);
  }
  expect(await listContactIds(ben)).toEqual([]);
  const dan = await makePerson();
  const token = await createToken(dan);
  await startAccountDeletion(env, openDb(env), dan.id);
  expect(await accept(ben, token)).toMatchObject(gone);
});

test("an invitation connects twenty people, also if the last two come at once", async () => {
  const ana = await makePerson();
  const token = await createToken(ana);
  await env.DB.prepare("UPDATE invitations SET uses = ? WHERE user_id = ?")
    .bind(invitationUsesMax - 1, ana.id)
    .run();
  const late = await Promise.all([makePerson(), makePerson()]);
  const answers = await Promise.all(late.map((person) => accept(person, token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect(await listContactIds(ana)).toHaveLength(1);
  expect((await visit(`/i/${token}`)).status).toBe(404);
  expect(await sendInvitation("GET", ana)).toBeNull();
  const next = await createToken(ana);
  expect(next).not.toBe(token);
  expect(await accept(await makePerson(), token)).toMatchObject(gone);
});

test("blocking somebody who became a contact since the invitation was made revokes it; blocking others does not", async () => {
  const [ana, ben, cal, dan] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, ana, cal);
  const token = await createToken(ana);
  // Cal has been a contact for longer than the link exists.
  const before = "UPDATE connection_requests SET updated_at = updated_at - 60000 WHERE conversation_id = ?";
  await env.DB.prepare(before).bind(privateConversationId(ana.id, cal.id)).run();
  expect((await accept(ben, token)).status).toBe(200);
  for (const other of [cal, dan]) await call("PUT", `/api/blocks/${other.id}`, { token: ana.token });
  expect(toToken(await sendInvitation("GET", ana))).toBe(token);
  await call("PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  expect(await sendInvitation("GET", ana)).toBeNull();
  expect(await accept(await makePerson(), token)).toMatchObject(gone);
});

test("new invitations are limited, so that revoking one gives no more uses", async () => {
  const ana = await makePerson();
  await createToken(ana);
  await sendInvitation("DELETE", ana);
  await drainBucket("invitation_by_user", ana.id);
  const refused = await call("POST", "/api/invitation", { token: ana.token });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
});

test("nobody accepts their own invitation, that of somebody who blocks them, or of somebody they block", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const token = await createToken(ana);
  expect(await accept(ana, token)).toMatchObject({ status: 400, body: { error_code: "request_to_self" } });
  await call("PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  expect(await accept(ben, token)).toMatchObject(gone);
  await call("DELETE", `/api/blocks/${ben.id}`, { token: ana.token });
  await call("PUT", `/api/blocks/${ana.id}`, { token: ben.token });
  expect(await accept(ben, token)).toMatchObject({ status: 403, body: { error_code: "contact_blocked" } });
  expect(await countUses(ana)).toBe(0);
});

test("the page of an invitation shows the name alone, in the visitor's language, without a script", async () => {
  const ana = await makePerson();
  await call("PATCH", "/api/profile", { token: ana.token, body: { username: `Ana <b>"M"` } });
  const token = await createToken(ana);
  for (const [language, before, after] of [
    ["fr", "", " vous invite sur Lisolo"],
    ["en", "", " invites you to Lisolo"],
    ["pt", "Convite de ", " para o Lisolo"],
  ]) {
    const page = await visit(`/i/${token}`, { headers: { "accept-language": language ?? "" } });
    expect(page.status).toBe(200);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; style-src 'sha256-");
    expect(page.headers.getSetCookie()).toEqual([]);
    const text = await page.text();
    expect(text).toContain(`${before}<bdi>Ana &lt;b&gt;&quot;M&quot;</bdi>${after}`);
    expect(text).not.toMatch(/<script|<img/);
    expect(text).not.toContain(ana.phone.slice(-6));
    expect(text).not.toContain(ana.id);
  }
});

test("only the page's own buttons keep the invitation for the sign-up", async () => {
  const token = await createToken(await makePerson());
  for (const step of ["register", "login"]) {
    const path = `/i/${token}/${step}`;
    const chosen = await visit(path, { method: "POST", headers: { origin: site.origin } });
    expect(chosen.status).toBe(303);
    expect(chosen.headers.get("location")).toBe(`/${step}`);
    expect(chosen.headers.get("set-cookie")).toBe(
      `lisolo-invitation=${token}; Path=/; Max-Age=86400; Secure; SameSite=Lax`,
    );
    const foreign: Record<string, string>[] = [
      { origin: "https://example.org" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      {},
    ];
    for (const headers of foreign) {
      const forged = await visit(path, { method: "POST", headers });
      expect(forged.status).toBe(403);
      expect(forged.headers.get("set-cookie")).toBeNull();
    }
    const reloaded = await visit(path);
    expect([reloaded.status, reloaded.headers.get("location")]).toEqual([303, `/i/${token}`]);
    expect(reloaded.headers.get("set-cookie")).toBeNull();
  }
  expect((await visit(`/i/${token}`, { method: "POST" })).status).toBe(405);
  expect((await visit(`/i/${token}/app`)).status).toBe(404);
});

test("expired invitations are deleted", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const db = openDb(env);
  const now = Date.now();
  await insertInvitation(db, ana.id, now - (invitationDays + 1) * 86_400_000);
  await insertInvitation(db, ben.id, now);
  await purgeInvitations(db, now, 100);
  const { results } = await env.DB.prepare("SELECT user_id FROM invitations WHERE user_id IN (?, ?)")
    .bind(ana.id, ben.id)
    .all();
  expect(results).toEqual([{ user_id: ben.id }]);
});

test("a link does not connect again whom its sender removed or declined, but a new one does", async () => {
  const [ana, ben, cal, dan] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, dan, ana);
  const token = await createToken(ana);
  expect((await accept(ben, token)).status).toBe(200);
  for (const { id } of [ben, dan])
    expect((await call("DELETE", `/api/contacts/${id}`, { token: ana.token })).status).toBe(200);
  const asked = await call("POST", "/api/requests", { token: cal.token, body: { to_user_id: ana.id } });
  const { request_id } = asked.body as Relation;
  expect((await call("POST", `/api/requests/${request_id}/decline`, { token: ana.token })).status).toBe(200);
  for (const person of [ben, cal, dan]) expect(await accept(person, token)).toMatchObject(gone);
  expect(await listContactIds(ana)).toEqual([]);
  expect(await countUses(ana)).toBe(1);
  // A request of theirs does not open the link again.
  await call("POST", "/api/requests", { token: ben.token, body: { to_user_id: ana.id } });
  expect(await accept(ben, token)).toMatchObject(gone);
  // Sent on purpose to them after that.
  await sendInvitation("DELETE", ana);
  const next = await createToken(ana);
  for (const person of [ben, cal, dan]) expect((await accept(person, next)).status).toBe(200);
});

test("who declined a request of the sender may still accept the invitation", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const token = await createToken(ana);
  const asked = await call("POST", "/api/requests", { token: ana.token, body: { to_user_id: ben.id } });
  const { request_id } = asked.body as Relation;
  expect((await call("POST", `/api/requests/${request_id}/decline`, { token: ben.token })).status).toBe(200);
  expect((await accept(ben, token)).status).toBe(200);
});
