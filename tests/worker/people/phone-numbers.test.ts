import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { BlockList, RequestPage } from "#contract/contacts.ts";
import { createUuid } from "#contract/ids.ts";
import type { FoundPerson, Profile, Relation } from "#contract/people.ts";
import { maskToCountryCode, maskToLastDigits } from "#contract/phone/phone-text.ts";
import type { FindableBy } from "#contract/settings/settings.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { decodePerson } from "#tests/support/wire-frames.ts";
import { request as command, Device, waitUntil } from "#tests/worker/support/device.ts";
import { makeGroup, readMemberPage } from "#tests/worker/support/make-group.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/**
 * Visibility of phone numbers: the status feed, forwards and groups reveal ids to everybody, which must not be enough.
 */

const twoPeople = async () => [await makePerson(), await makePerson()] as const;
const letBeFound = (person: Person, findable: FindableBy) =>
  call("PATCH", "/api/settings", { token: person.token, body: { findable } });
const read = async <T>(by: Person, path: string) => (await call("GET", path, { token: by.token })).body as T;
const block = async (by: Person, other: Person) =>
  (await call("PUT", `/api/blocks/${other.id}`, { token: by.token })).body as Relation;
const unblock = async (by: Person, other: Person) =>
  (await call("DELETE", `/api/blocks/${other.id}`, { token: by.token })).body as Relation;
const askFor = async (by: Person, other: Person) =>
  (await call("POST", "/api/requests", { token: by.token, body: { to_user_id: other.id } })).body as Relation;
const answer = async (by: Person, request: string | null, decision: "accept" | "decline") =>
  (await call("POST", `/api/requests/${request}/${decision}`, { token: by.token })).body as Relation;
const heardOf = async (by: Person, of: Person): Promise<Relation | undefined> =>
  (await command(by, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === of.id);
const profileOf = (by: Person, of: Person) => read<Profile>(by, `/api/users/${of.id}`);

/** Visible numbers of the other person in several requests. */
const numbersFor = async (by: Person, of: Person) => {
  const heard = await heardOf(by, of);
  return [heard?.profile.phone, (await profileOf(by, of)).phone];
};

test("knowing only an id reveals no number by blocking, by listing the blocked, or by unblocking", async () => {
  const [ana, ben] = await twoPeople();
  const phone = await Device.open(ana);
  expect(await block(ana, ben)).toMatchObject({ state: "none", profile: { id: ben.id, phone: "" } });
  expect(decodePerson((await phone.nextOf("p"))[2]).profile).toMatchObject({ id: ben.id, phone: "" });
  expect(await read<BlockList>(ana, "/api/blocks")).toMatchObject({ blocked: [{ id: ben.id, phone: "" }] });
  expect(await numbersFor(ana, ben)).toEqual(["", ""]);
  expect(await unblock(ana, ben)).toMatchObject({ blocked: false, profile: { phone: "" } });
});

test("a request from a blocked person is not revealed by their number", async () => {
  const [ana, ben] = await twoPeople();
  await block(ana, ben);
  await askFor(ben, ana);
  expect(await read<BlockList>(ana, "/api/blocks")).toMatchObject({ blocked: [{ phone: "" }] });
  expect((await profileOf(ana, ben)).phone).toBe("");
  expect((await unblock(ana, ben)).profile.phone).toBe(maskToCountryCode(ben.phone));
});

test.each<FindableBy>(["part", "whole", "nobody"])(
  "a person found by %s is asked without showing their number, until they accept and again after the contact ends",
  async (findable) => {
    const [ana, ben] = await twoPeople();
    await letBeFound(ben, findable);
    const asked = await askFor(ana, ben);
    expect(asked).toMatchObject({ state: "sent", profile: { id: ben.id, phone: "" } });
    await waitUntil(async () => (await heardOf(ana, ben))?.state === "sent");
    expect(await numbersFor(ana, ben)).toEqual(["", ""]);
    expect((await read<RequestPage>(ana, "/api/requests")).sent).toMatchObject([
      { from_user: { phone: ana.phone }, to_user: { id: ben.id, phone: "" } },
    ]);
    // The recipient of a request sees the sender's country until they accept.
    await waitUntil(async () => (await heardOf(ben, ana))?.state === "received");
    const country = maskToCountryCode(ana.phone);
    expect(await numbersFor(ben, ana)).toEqual([country, country]);
    expect((await read<RequestPage>(ben, "/api/requests")).received).toMatchObject([{ from_user: { phone: country } }]);
    expect((await answer(ben, asked.request_id, "accept")).profile.phone).toBe(ana.phone);
    await waitUntil(async () => (await heardOf(ana, ben))?.state === "contact");
    expect(await numbersFor(ana, ben)).toEqual([ben.phone, ben.phone]);
    expect(await read(ana, "/api/contacts")).toMatchObject({ contacts: [{ id: ben.id, phone: ben.phone }] });
    expect((await block(ana, ben)).profile.phone).toBe(ben.phone);
    expect(await read<BlockList>(ana, "/api/blocks")).toMatchObject({ blocked: [{ phone: ben.phone }] });
    await unblock(ana, ben);
    // After its end neither sees changes of the other.
    await call("DELETE", `/api/contacts/${ben.id}`, { token: ana.token });
    await waitUntil(async () => (await heardOf(ana, ben))?.state === "none");
    await waitUntil(async () => (await heardOf(ben, ana))?.state === "none");
    expect((await heardOf(ana, ben))?.profile.phone).toBe("");
    expect((await heardOf(ben, ana))?.profile.phone).toBe("");
    for (const [by, of] of [
      [ana, ben],
      [ben, ana],
    ] as const)
      expect((await call("GET", `/api/users/${of.id}`, { token: by.token })).status).toBe(404);
    expect((await block(ana, ben)).profile.phone).toBe("");
  },
);

test("after a declined request neither has the other's number or profile", async () => {
  const [ana, ben] = await twoPeople();
  const asked = await askFor(ana, ben);
  const declined = await answer(ben, asked.request_id, "decline");
  expect(declined).toMatchObject({ state: "none", profile: { phone: "" } });
  await waitUntil(async () => (await heardOf(ana, ben))?.state === "none");
  expect((await heardOf(ana, ben))?.profile.phone).toBe("");
  for (const [by, of] of [
    [ana, ben],
    [ben, ana],
  ] as const)
    expect((await call("GET", `/api/users/${of.id}`, { token: by.token })).status).toBe(404);
});

test("a former contact receives no new name or picture", async () => {
  const [ana, ben] = await twoPeople();
  await connectPeople(site, ana, ben);
  await waitUntil(async () => (await heardOf(ana, ben))?.state === "contact");
  await call("DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  await waitUntil(async () => (await heardOf(ana, ben))?.state === "none");
  await call("PATCH", "/api/profile", { token: ben.token, body: { username: "Un nouveau nom" } });
  await waitUntil(async () => (await heardOf(ben, ben))?.profile.username === "Un nouveau nom");
  expect((await heardOf(ana, ben))?.profile.username).toBe(ben.username);
});

test("group members who are strangers see two digits, unless a person shows their number", async () => {
  const [ana, ben, cleo] = [await makePerson(), ...(await twoPeople())];
  await Promise.all([ben, cleo].map((other) => connectPeople(site, ana, other)));
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cleo], group);
  const numbersOf = async (by: Person, query = "") => {
    const { members } = await readMemberPage(by, group, query);
    return members.map(({ profile }) => profile?.phone);
  };
  const all = [ana, ben, cleo].map(({ phone }) => phone);
  expect(await numbersOf(ana)).toEqual(all);
  expect(await numbersOf(ben)).toEqual([ana.phone, ben.phone, maskToLastDigits(cleo.phone)]);
  expect(await numbersOf(ben, "?numbers=2")).toEqual([maskToLastDigits(cleo.phone)]);
  await call("PATCH", "/api/settings", { token: cleo.token, body: { phoneInGroups: true } });
  expect(await numbersOf(ben)).toEqual(all);
  await call("PATCH", "/api/settings", { token: cleo.token, body: { phoneInGroups: false } });
  expect(await numbersOf(ben)).toEqual([ana.phone, ben.phone, maskToLastDigits(cleo.phone)]);
  // A request reveals no more of the number.
  await askFor(cleo, ben);
  expect(await numbersOf(ben)).toEqual([ana.phone, ben.phone, maskToLastDigits(cleo.phone)]);
  expect(await numbersOf(cleo)).toEqual([ana.phone, maskToLastDigits(ben.phone), cleo.phone]);
});

test("a person who left a group shows no digit to the remaining members, except contacts", async () => {
  const [ana, ben, cleo] = [await makePerson(), ...(await twoPeople())];
  await Promise.all([ben, cleo].map((other) => connectPeople(site, ana, other)));
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cleo], group);
  await call("PATCH", "/api/settings", { token: cleo.token, body: { phoneInGroups: true } });
  const numberFor = async (by: Person, query: string) =>
    (await readMemberPage(by, group, query)).members.find(({ profile }) => profile?.id === cleo.id);
  const { roster } = await readMemberPage(ben, group);
  expect(await numberFor(ben, "?numbers=2")).toMatchObject({ left: false, profile: { phone: cleo.phone } });
  const left = await call("DELETE", `/api/groups/${group}/members/${cleo.id}`, { token: ana.token });
  expect(left.status).toBeLessThan(300);
  for (const query of ["?numbers=2", `?since=${roster}`]) {
    expect(await numberFor(ben, query)).toMatchObject({ left: true, profile: { username: cleo.username, phone: "" } });
    expect(await numberFor(ana, query)).toMatchObject({ left: true, profile: { phone: cleo.phone } });
  }
});

test("a number that was stored before the visibility rule is no longer shown, and removed when it is read", async () => {
  const [ana, ben] = await twoPeople();
  await askFor(ana, ben);
  await waitUntil(async () => (await heardOf(ana, ben))?.state === "sent");
  await waitUntil(async () => (await heardOf(ben, ana))?.state === "received");
  const stored = (of: Person, inChannelOf: Person, phone?: string) =>
    runInDurableObject(env.USER_CHANNEL.getByName(inChannelOf.id), (_, { storage: { sql } }) => {
      if (phone !== undefined)
        sql.exec(
          "UPDATE people SET relation = json_set(relation, '$.profile.phone', ?) WHERE user_id = ?",
          phone,
          of.id,
        );
      return sql
        .exec<{ phone: string }>("SELECT relation ->> '$.profile.phone' AS phone FROM people WHERE user_id = ?", of.id)
        .one().phone;
    });
  expect(await stored(ben, ana, ben.phone)).toBe(ben.phone);
  const phone = await Device.open(ana);
  expect((await heardOf(ana, ben))?.profile.phone).toBe("");
  expect(await stored(ben, ana)).toBe("");
  phone.close();
  // The country of a requester remains, and one's own number.
  expect((await heardOf(ben, ana))?.profile.phone).toBe(maskToCountryCode(ana.phone));
  expect(await stored(ana, ben)).toBe(maskToCountryCode(ana.phone));
  await call("PATCH", "/api/profile", { token: ana.token, body: { username: "Ana Mbo" } });
  await waitUntil(async () => (await heardOf(ana, ana))?.profile.username === "Ana Mbo");
  expect((await heardOf(ana, ana))?.profile.phone).toBe(ana.phone);
});

test("a search shows the typed number, of contacts the whole number, and of all others the country", async () => {
  const [ana, ben] = await twoPeople();
  const find = async (phone: string) =>
    (await call("POST", "/api/people/search", { token: ana.token, body: { phone } })).body as FoundPerson[];
  const own = (found: FoundPerson[]) => found.find(({ id }) => id === ben.id)?.phone;
  expect(await find(ben.phone)).toEqual([
    { id: ben.id, username: ben.username, phone: ben.phone, avatar_url: null, state: "none" },
  ]);
  expect(own(await find(`0${ben.phone.slice(4)}`))).toBe(ben.phone);
  expect(own(await find(ben.phone.slice(4)))).toBe(ben.phone);
  const part = "4477700900";
  const phone = `+${part}${ben.phone.slice(-4)}`;
  await env.DB.prepare("UPDATE profiles SET phone = ? WHERE id = ?").bind(phone, ben.id).run();
  expect(own(await find(part))).toBe(maskToCountryCode(phone));
  expect(own(await find(phone.slice(0, -1)))).toBeUndefined();
  await askFor(ana, ben);
  expect(own(await find(part))).toBe(maskToCountryCode(phone));
  await connectPeople(site, ben, await makePerson());
  const { received } = await read<RequestPage>(ben, "/api/requests");
  await answer(ben, received[0]?.id ?? "", "accept");
  expect(own(await find(part))).toBe(phone);
});
