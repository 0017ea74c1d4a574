import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { RequestContext, RequestContexts, RequestPage } from "#contract/contacts.ts";
import { createUuid } from "#contract/ids.ts";
import { commonNamesMax } from "#contract/limits/people.ts";
import type { Relation } from "#contract/people.ts";
import { maskToCountryCode } from "#contract/phone/phone-text.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { request as command, waitUntil } from "#tests/worker/support/device.ts";
import { makeGroup, readMemberPage } from "#tests/worker/support/make-group.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, site } from "#tests/worker/support/site.ts";
import { findPhoneCountry } from "#worker/contacts/phone-country.ts";

/** What the recipient of a contact request learns of its sender before answering. */

const ask = async (by: Person, other: Person) =>
  (await call("POST", "/api/requests", { token: by.token, body: { to_user_id: other.id } })).body as Relation;
const read = async <T>(by: Person, path: string) => (await call("GET", path, { token: by.token })).body as T;
const readContexts = async (by: Person) => (await read<RequestContexts>(by, "/api/requests/contexts")).contexts;
const people = (count: number) => Promise.all(Array.from({ length: count }, seedPerson));
const connectAll = async (one: Person, others: Person[]) => {
  for (const other of others) await connectPeople(site, other, one);
};
const setAvatar = (of: Person) =>
  env.DB.prepare("UPDATE profiles SET avatar_url = ? WHERE id = ?").bind(createUuid(), of.id).run();
const heardOf = async (by: Person, of: Person) =>
  (await command(by, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === of.id);
const stranger = (of: Person): RequestContext => ({
  from_user_id: of.id,
  country: "CD",
  account_month: new Date().toISOString().slice(0, 7),
  is_verified: false,
  contacts: { count: 0, names: [] },
  groups: { count: 0, names: [] },
});

test("a stranger's request shows country, month and nothing in common; nobody else learns of it", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  await ask(ana, ben);
  expect(await readContexts(ben)).toEqual([stranger(ana)]);
  await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(ana.id).run();
  expect(await readContexts(ben)).toEqual([{ ...stranger(ana), is_verified: true }]);
  expect(await readContexts(ana)).toEqual([]);
  await call("PUT", `/api/blocks/${ana.id}`, { token: ben.token });
  expect(await readContexts(ben)).toEqual([]);
});

test("common contacts are counted, and named up to a limit; contacts of one side alone are not", async () => {
  const [[ana, ben], common] = [await people(2), await people(commonNamesMax + 1)];
  if (!ana || !ben) throw new Error("nobody");
  await connectAll(ana, [...common, await seedPerson()]);
  await connectAll(ben, [...common, await seedPerson()]);
  await ask(ana, ben);
  const [context] = await readContexts(ben);
  expect(context?.contacts.count).toBe(common.length);
  expect(context?.contacts.names).toHaveLength(commonNamesMax);
  const names = common.map(({ username }) => username);
  expect(context?.contacts.names.every((name) => names.includes(name))).toBe(true);
});

test("common groups are those whose member list shows the sender, whether or not they see the group themselves", async () => {
  const [ana, ben, eve, cleo] = await people(4);
  if (!ana || !ben || !eve || !cleo) throw new Error("nobody");
  await connectAll(eve, [ana, ben, cleo]);
  const family = createUuid();
  await makeGroup(eve, "Famille", [ana, ben], family);
  await makeGroup(eve, "Sans Ben", [ana, cleo], createUuid());
  await ask(ana, ben);
  await waitUntil(async () => (await readContexts(ben))[0]?.groups.count === 1);
  expect((await readContexts(ben))[0]?.groups).toEqual({ count: 1, names: ["Famille"] });
  // Who blocks the person adding them is a hidden member, which must not show.
  await call("PUT", `/api/blocks/${eve.id}`, { token: cleo.token });
  const work = createUuid();
  await makeGroup(eve, "Travail", [cleo, ben], work);
  await ask(cleo, ben);
  expect((await readMemberPage(ben, work)).members.map(({ profile }) => profile?.id)).toContain(cleo.id);
  await waitUntil(async () => (await readContexts(ben)).some(({ groups }) => groups.names.includes("Travail")));
  // A group that either has left is no longer common.
  await call("DELETE", `/api/groups/${family}/members/${ana.id}`, { token: ana.token });
  expect((await readContexts(ben)).find(({ from_user_id }) => from_user_id === ana.id)?.groups.count).toBe(0);
});

test("the sender's picture and number reach the recipient by no path before they accept", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  for (const person of [ana, ben]) await setAvatar(person);
  const asked = await ask(ana, ben);
  expect(asked.profile.avatar_url).not.toBeNull(); // of the recipient, for the sender
  await waitUntil(async () => (await heardOf(ben, ana))?.state === "received");
  const hidden = { phone: maskToCountryCode(ana.phone), avatar_url: null };
  expect((await heardOf(ben, ana))?.profile).toMatchObject(hidden);
  expect(await read(ben, `/api/users/${ana.id}`)).toMatchObject(hidden);
  expect((await read<RequestPage>(ben, "/api/requests")).received[0]?.from_user).toMatchObject(hidden);
  const found = await call("POST", "/api/people/search", { token: ben.token, body: { phone: ana.phone } });
  expect(found.body).toMatchObject([{ id: ana.id, avatar_url: null }]);
  // A new picture is pushed without it as well.
  await call("PATCH", "/api/profile", { token: ana.token, body: { username: "Ana Mbo" } });
  await waitUntil(async () => (await heardOf(ben, ana))?.profile.username === "Ana Mbo");
  expect((await heardOf(ben, ana))?.profile).toMatchObject(hidden);
  await call("POST", `/api/requests/${asked.request_id}/accept`, { token: ben.token });
  await waitUntil(async () => (await heardOf(ben, ana))?.state === "contact");
  expect((await heardOf(ben, ana))?.profile).toMatchObject({ phone: ana.phone, avatar_url: expect.any(String) });
});

test("a country is named only if its code belongs to no other", () => {
  const countryOf = ["+243810000001", "+242060000001", "+33600000001", "+14155550142", "+79000000001"].map(
    findPhoneCountry,
  );
  expect(countryOf).toEqual(["CD", "CG", "FR", null, null]);
});
