import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { requestsReceivedPerDay } from "#contract/limits/people.ts";
import type { OwnLink } from "#contract/names/personal-link.ts";
import type { FoundPerson, Profile, Relation } from "#contract/people.ts";
import { maskToLastDigits } from "#contract/phone/phone-text.ts";
import type { Audience, SettingsChange } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { CallClient, makeCallers, readCallEntries } from "#tests/worker/support/call-client.ts";
import { request as command, waitUntil } from "#tests/worker/support/device.ts";
import { makeGroup, readMemberPage } from "#tests/worker/support/make-group.ts";
import { publishPost } from "#tests/worker/support/posts.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { openDb } from "#worker/db/client.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";
import { listFeedPosts } from "#worker/tala/queries.ts";

/** Settings that decide who reaches a person and who sees their picture and number. */

afterEach(() => {
  vi.restoreAllMocks();
});

const choose = async (by: Person, body: SettingsChange) =>
  expect(await call("PATCH", "/api/settings", { token: by.token, body })).toMatchObject({
    status: 200,
    body: { settings: body },
  });
const ask = (by: Person, other: Person) =>
  call("POST", "/api/requests", { token: by.token, body: { to_user_id: other.id } });
const read = async <T>(by: Person, path: string) => (await call("GET", path, { token: by.token })).body as T;
const heardOf = async (by: Person, of: Person) =>
  (await command(by, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === of.id)?.profile;

test("who takes no requests refuses them like somebody who has too many, also those of blocked people", async () => {
  const [ana, ben, full, cleo, dan] = await Promise.all(Array.from({ length: 5 }, seedPerson));
  if (!ana || !ben || !full || !cleo || !dan) throw new Error("nobody");
  for (let i = 0; i < requestsReceivedPerDay; i++) await ask(await seedPerson(), full);
  await choose(ana, { requestsFrom: "nobody" });
  await call("PUT", `/api/blocks/${dan.id}`, { token: ana.token });
  const [refused, blocked, other] = [await ask(ben, ana), await ask(dan, ana), await ask(ben, full)];
  expect(refused).toMatchObject({ status: 429, body: { error_code: "request_not_possible" } });
  expect([refused.body, blocked.body]).toEqual([other.body, other.body]);
  expect(refused.headers.get("retry-after")).toBe(other.headers.get("retry-after"));
  // It can send requests itself, and receives them once it allows them.
  expect((await ask(ana, cleo)).status).toBe(200);
  await choose(ana, { requestsFrom: "everyone" });
  expect((await ask(ben, ana)).status).toBe(200);
});

test("who sees the picture or the number can be changed as rarely as the name, other settings often", async () => {
  const ana = await seedPerson();
  const { burst } = rateLimitPolicies.profile_change_by_user;
  for (let n = 0; n < burst; n++) await choose(ana, { pictureTo: n % 2 === 0 ? "nobody" : "everyone" });
  const refused = await call("PATCH", "/api/settings", { token: ana.token, body: { phoneTo: "nobody" } });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  await choose(ana, { callsFrom: "nobody" });
});

/** The other person's picture and number on every path: sync, profile, contacts, searches, group members, statuses. */
const viewOf = async (by: Person, of: Person, { group, handle, link }: Record<"group" | "handle" | "link", string>) => {
  const find = async (path: string, body: object): Promise<FoundPerson | undefined> => {
    const found = (await call("POST", path, { token: by.token, body })).body as FoundPerson | FoundPerson[];
    const person = Array.isArray(found) ? found[0] : found;
    expect(person?.id).toBe(of.id);
    return person;
  };
  const { contacts } = await read<{ contacts: Profile[] }>(by, "/api/contacts");
  const { members } = await readMemberPage(by, group);
  const byId = await call("GET", `/api/users/${of.id}`, { token: by.token });
  const byNumber = await find("/api/people/search", { phone: of.phone });
  const seen = {
    sync: await heardOf(by, of),
    profile: byId.status === 200 ? (byId.body as Profile) : undefined,
    contacts: contacts.find(({ id }) => id === of.id),
    handle: await find("/api/handles/search", { handle }),
    link: await find("/api/links/search", { token: link }),
    group: members.find(({ profile }) => profile?.id === of.id)?.profile ?? undefined,
  };
  const { rows } = await listFeedPosts(openDb(env), undefined); // without the cache of the pages
  const shown = Object.values(seen).filter((profile) => profile !== undefined);
  return {
    pictures: [...shown, byNumber].map((profile) => profile?.avatar_url !== null),
    feed: rows.find(({ author }) => author.id === of.id)?.author.avatar_url !== null,
    numbers: shown.map(({ phone }) => phone),
    count: shown.length,
  };
};

const makeView = async () => {
  const [of, contact, member, owner] = await Promise.all(Array.from({ length: 4 }, seedPerson));
  if (!of || !contact || !member || !owner) throw new Error("nobody");
  await env.DB.prepare("UPDATE profiles SET avatar_url = ? WHERE id = ?").bind(createUuid(), of.id).run();
  await befriend(contact, of);
  for (const one of [of, contact, member]) await befriend(owner, one);
  const group = createUuid();
  await makeGroup(owner, "Famille", [of, contact, member], group);
  const handle = `ana${of.id.slice(-8)}`;
  expect((await call("PUT", "/api/handle", { token: of.token, body: { handle } })).status).toBe(200);
  const { link: ownLink } = (await call("POST", "/api/link", { token: of.token })).body as OwnLink;
  const link = ownLink?.url.split("/").at(-1) ?? "";
  await publishPost(of, { content: "Mbote" });
  return { of, contact, member, owner, paths: { group, handle, link } };
};

test.each<[Audience, boolean, boolean]>([
  ["everyone", true, true],
  ["contacts", true, false],
  ["nobody", false, false],
])("a picture for %s is seen by contacts: %s, by others: %s, on every path", async (pictureTo, byContact, byOthers) => {
  const { of, contact, member, paths } = await makeView();
  await choose(of, { pictureTo });
  await waitUntil(async () => ((await heardOf(contact, of))?.avatar_url !== null) === byContact);
  const contactView = await viewOf(contact, of, paths);
  const memberView = await viewOf(member, of, paths);
  expect(contactView.count).toBe(6);
  expect(new Set(contactView.pictures)).toEqual(new Set([byContact]));
  expect(new Set(memberView.pictures)).toEqual(new Set([byOthers]));
  expect([contactView.feed, memberView.feed]).toEqual([byOthers, byOthers]);
  // A request changes nothing for the person who sends it.
  const asked = (await ask(member, of)).body as Relation;
  expect(asked.profile.avatar_url !== null).toBe(byOthers);
  expect((await read<Profile>(of, `/api/users/${of.id}`)).avatar_url).not.toBeNull();
});

test("a number for nobody is hidden from contacts as from strangers, and shown to who types it", async () => {
  const { of, contact, paths } = await makeView();
  await choose(of, { phoneTo: "nobody", phoneInGroups: true });
  await waitUntil(async () => (await heardOf(contact, of))?.phone === "");
  expect((await viewOf(contact, of, paths)).numbers).toEqual(["", "", "", "", "", maskToLastDigits(of.phone)]);
  const found = await call("POST", "/api/people/search", { token: contact.token, body: { phone: of.phone } });
  expect(found.body).toMatchObject([{ id: of.id, phone: of.phone }]);
  await choose(of, { phoneTo: "contacts" });
  await waitUntil(async () => (await heardOf(contact, of))?.phone === of.phone);
});

test("an excepted contact sees picture and number as for nobody, on every path; other contacts see both", async () => {
  const { of, contact, owner, paths } = await makeView();
  const exceptions = { pictureTo: [contact.id], phoneTo: [contact.id] };
  await choose(of, { pictureTo: "contacts_except", phoneTo: "contacts_except", phoneInGroups: true, exceptions });
  await waitUntil(async () => (await heardOf(contact, of))?.avatar_url === null);
  const excepted = await viewOf(contact, of, paths);
  const other = await viewOf(owner, of, paths);
  expect([new Set(excepted.pictures), new Set(other.pictures)]).toEqual([new Set([false]), new Set([true])]);
  expect([excepted.feed, other.feed]).toEqual([false, false]);
  expect(excepted.numbers).toEqual(["", "", "", "", "", maskToLastDigits(of.phone)]);
  expect(new Set(other.numbers)).toEqual(new Set([of.phone]));
  // The view is the one of a picture and a number for nobody, and the list is told to nobody.
  await choose(of, { pictureTo: "nobody", phoneTo: "nobody" });
  expect(await viewOf(contact, of, paths)).toEqual(excepted);
  const told = JSON.stringify([
    await command(contact, { type: "changes", since: 0 }),
    await read(contact, `/api/users/${of.id}`),
    await readMemberPage(contact, paths.group),
  ]);
  expect(told).not.toMatch(/exceptions|_except|pictureTo|phoneTo/);
  // Lists apply only while they are chosen, and each to its own setting. A change of a list alone is pushed as well.
  await choose(of, { pictureTo: "contacts", phoneTo: "contacts_except" });
  await waitUntil(async () => (await heardOf(contact, of))?.avatar_url !== null);
  expect((await heardOf(contact, of))?.phone).toBe("");
  await choose(of, { exceptions: { phoneTo: [owner.id, createUuid()] } });
  await waitUntil(async () => (await heardOf(contact, of))?.phone === of.phone);
  await waitUntil(async () => (await heardOf(owner, of))?.phone === "");
});

test("an exception has no effect on a former contact, and applies again to a contact who is back", async () => {
  const { of, contact, paths } = await makeView();
  await choose(of, { pictureTo: "contacts_except", exceptions: { pictureTo: [contact.id] } });
  expect((await call("DELETE", `/api/contacts/${contact.id}`, { token: of.token })).status).toBe(200);
  expect(new Set((await viewOf(contact, of, paths)).pictures)).toEqual(new Set([false]));
  await choose(of, { pictureTo: "everyone" });
  const [, ...shown] = (await viewOf(contact, of, paths)).pictures; // the device's copy of a former contact stays as it was
  expect(new Set(shown)).toEqual(new Set([true]));
  await choose(of, { pictureTo: "contacts_except" });
  await befriend(contact, of);
  expect((await read<Profile>(contact, `/api/users/${of.id}`)).avatar_url).toBeNull();
  const deleted = await call("DELETE", "/api/account", { token: contact.token, body: { user_id: contact.id } });
  expect(deleted.status).toBeLessThan(300);
  expect(await read(of, "/api/settings")).toMatchObject({ settings: { exceptions: { pictureTo: [contact.id] } } });
  await choose(of, { exceptions: { pictureTo: [] } });
});

test("excepted contacts are refused in groups and calls as by somebody who allows nobody", async () => {
  const { ben, anas, bens, ana, id } = await makeCallers();
  const cleo = await seedPerson();
  await befriend(cleo, ana);
  const withCleo = await befriend(cleo, ben);
  const cleos = await CallClient.open(cleo, withCleo);
  /** What the caller learns of a call and of adding to a group, and what both have in their logs. */
  const attempt = async () => {
    const [before, benBefore] = [await readCallEntries(ana, id), await readCallEntries(ben, id)];
    const refused = createUuid();
    const { error } = await anas.dial(refused);
    const { data } = await anas.waitForEvent(refused, "missed");
    await bens.waitForEvent(refused, "missed");
    expect(bens.listEvents(refused)).toEqual(["missed"]);
    const [after, benAfter] = [await readCallEntries(ana, id), await readCallEntries(ben, id)];
    const made = await makeGroup(ana, "Famille", [ben, cleo]);
    if (made === null || typeof made === "string") throw new Error(`no group: ${made}`);
    const added = { count: made.count, invited: made.invited };
    const { reason } = data as { reason?: string };
    const rows = [after.length - before.length, benAfter.length - benBefore.length];
    return { error, reason, events: anas.listEvents(refused), rows, added };
  };
  await choose(ben, { callsFrom: "nobody", groupAdds: "nobody" });
  const byNobody = await attempt();
  expect(byNobody).toMatchObject({ reason: "busy", rows: [1, 1], added: { count: 2, invited: [ben.id] } });
  const exceptions = { callsFrom: [ana.id], groupAdds: [ana.id] };
  await choose(ben, { callsFrom: "contacts_except", groupAdds: "contacts_except", exceptions });
  expect(await attempt()).toEqual(byNobody);
  // Other contacts call and add.
  const rings = createUuid();
  await cleos.dial(rings);
  await bens.waitForEvent(rings, "ring");
  await cleos.hangUp(rings, "ended");
  expect(await makeGroup(cleo, "Amis", [ben, ana])).toMatchObject({ count: 3 });
  // The person who excepts calls and adds as before.
  const own = createUuid();
  await bens.dial(own);
  await anas.waitForEvent(own, "ring");
  await bens.hangUp(own, "ended");
  expect(await makeGroup(ben, "Encore", [ana, cleo])).toMatchObject({ count: 3 });
});

test("calls to somebody who accepts none do not ring and are answered as busy; they can call", async () => {
  const { ben, anas, bens, ana, id } = await makeCallers();
  await choose(ben, { callsFrom: "nobody" });
  const refused = createUuid();
  await anas.dial(refused);
  expect((await anas.waitForEvent(refused, "missed")).data).toMatchObject({ reason: "busy" });
  await bens.waitForEvent(refused, "missed");
  expect(bens.listEvents(refused)).toEqual(["missed"]);
  expect(await readCallEntries(ben, id)).toHaveLength(1);
  // A device that connects meanwhile hears of no call either, and a call of their own is as any other.
  const own = createUuid();
  await bens.dial(own);
  await anas.waitForEvent(own, "ring");
  await bens.hangUp(own, "ended");
  await choose(ben, { callsFrom: "contacts" });
  const again = createUuid();
  await (await CallClient.open(ana, id)).dial(again);
  await bens.waitForEvent(again, "ring");
});
