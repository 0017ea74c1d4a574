import { expect, test } from "vitest";
import type { BlockList, RequestPage } from "../../contract/contacts";
import { createUuid } from "../../contract/ids";
import type { Profile, Relation } from "../../contract/people";
import type { FindableBy } from "../../contract/settings";
import { fromWirePerson } from "../../contract/wire";
import { connectPeople, type Person } from "../support/people";
import { countDirectory } from "./counted-rows";
import { request as command, Device, until } from "./device";
import { makeGroup, membersOf } from "./grouped";
import { call, newPerson, site } from "./site";

/** Who is told whose number (SPEC.md §5): the feed of statuses tells everybody ids, which must not be enough. */

const twoPeople = async () => [await newPerson(), await newPerson()] as const;
const letBeFound = (person: Person, findable: FindableBy) =>
  call("PATCH", "/api/settings", { token: person.token, body: { findable } });
const read = async <T>(by: Person, path: string) => (await call("GET", path, { token: by.token })).body as T;
const block = async (by: Person, other: Person) =>
  (await call("PUT", `/api/blocks/${other.id}`, { token: by.token })).body as Relation;
const unblock = async (by: Person, other: Person) =>
  (await call("DELETE", `/api/blocks/${other.id}`, { token: by.token })).body as Relation;
const askFor = async (by: Person, other: Person) =>
  (await call("POST", "/api/requests", { token: by.token, body: { to_user_id: other.id } })).body as Relation;
const answer = async (by: Person, request: string | null, how: "accept" | "decline") =>
  (await call("POST", `/api/requests/${request}/${how}`, { token: by.token })).body as Relation;
const heardOf = async (by: Person, of: Person): Promise<Relation | undefined> =>
  (await command(by, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === of.id);
const profileOf = (by: Person, of: Person) => read<Profile>(by, `/api/users/${of.id}`);

/** What the person may read of the other's number in one place and another. */
const numbersFor = async (by: Person, of: Person) => {
  const heard = await heardOf(by, of);
  return [heard?.profile.phone, (await profileOf(by, of)).phone];
};

test("whoever has nothing but an id learns no number by blocking, by listing the blocked, or by unblocking", async () => {
  const [ana, ben] = await twoPeople();
  const phone = await Device.open(ana);
  expect(await block(ana, ben)).toMatchObject({ state: "none", profile: { id: ben.id, phone: "" } });
  expect(fromWirePerson((await phone.nextOf("p"))[2]).profile).toMatchObject({ id: ben.id, phone: "" });
  expect(await read<BlockList>(ana, "/api/blocks")).toMatchObject({ blocked: [{ id: ben.id, phone: "" }] });
  expect(await numbersFor(ana, ben)).toEqual(["", ""]);
  expect(await unblock(ana, ben)).toMatchObject({ blocked: false, profile: { phone: "" } });
});

test("that somebody whom one blocks has asked is not betrayed by their number", async () => {
  const [ana, ben] = await twoPeople();
  await block(ana, ben);
  await askFor(ben, ana);
  expect(await read<BlockList>(ana, "/api/blocks")).toMatchObject({ blocked: [{ phone: "" }] });
  expect((await profileOf(ana, ben)).phone).toBe("");
  expect((await unblock(ana, ben)).profile.phone).toBe(ben.phone);
});

test.each<FindableBy>(["whole", "nobody"])(
  "who is found by %s is asked without telling their number, until they accept",
  async (findable) => {
    const [ana, ben] = await twoPeople();
    await letBeFound(ben, findable);
    const asked = await askFor(ana, ben);
    expect(asked).toMatchObject({ state: "sent", profile: { id: ben.id, phone: "" } });
    await until(async () => (await heardOf(ana, ben))?.state === "sent");
    expect(await numbersFor(ana, ben)).toEqual(["", ""]);
    expect((await read<RequestPage>(ana, "/api/requests")).sent).toMatchObject([
      { from_user: { phone: ana.phone }, to_user: { id: ben.id, phone: "" } },
    ]);
    // Who is asked knows by whom.
    await until(async () => (await heardOf(ben, ana))?.state === "received");
    expect(await numbersFor(ben, ana)).toEqual([ana.phone, ana.phone]);
    expect((await read<RequestPage>(ben, "/api/requests")).received).toMatchObject([
      { from_user: { phone: ana.phone } },
    ]);
    expect((await answer(ben, asked.request_id, "accept")).profile.phone).toBe(ana.phone);
    await until(async () => (await heardOf(ana, ben))?.state === "contact");
    expect(await numbersFor(ana, ben)).toEqual([ben.phone, ben.phone]);
    expect(await read(ana, "/api/contacts")).toMatchObject({ contacts: [{ id: ben.id, phone: ben.phone }] });
    expect((await block(ana, ben)).profile.phone).toBe(ben.phone);
    // When that has ended it is as it was before.
    await call("DELETE", `/api/contacts/${ben.id}`, { token: ana.token });
    await until(async () => (await heardOf(ana, ben))?.state === "none");
    expect(await numbersFor(ana, ben)).toEqual(["", ""]);
    expect(await numbersFor(ben, ana)).toEqual([ana.phone, ana.phone]);
  },
);

test("who is found by a part of their number has it read by whom they declined, until they want that no more", async () => {
  const [ana, ben] = await twoPeople();
  const asked = await askFor(ana, ben);
  expect(asked.profile.phone).toBe(ben.phone);
  await answer(ben, asked.request_id, "decline");
  await until(async () => (await heardOf(ana, ben))?.state === "none");
  expect(await numbersFor(ana, ben)).toEqual([ben.phone, ben.phone]);
  await letBeFound(ben, "whole");
  await until(async () => (await heardOf(ana, ben))?.profile.phone === "");
  expect(await numbersFor(ana, ben)).toEqual(["", ""]);
  await letBeFound(ben, "part");
  await until(async () => (await heardOf(ana, ben))?.profile.phone === ben.phone);
  expect(await numbersFor(ben, ana)).toEqual([ana.phone, ana.phone]);
});

test("members of a group who are strangers to each other read a number only where a part of it finds its person", async () => {
  const [ana, ben, cleo] = [await newPerson(), ...(await twoPeople())];
  await Promise.all([ben, cleo].map((other) => connectPeople(site, ana, other)));
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cleo], group);
  const numbersOf = async (by: Person, query = "") => {
    const { members } = await membersOf(by, group, query);
    return members.map(({ profile }) => profile?.phone);
  };
  const all = [ana, ben, cleo].map(({ phone }) => phone);
  expect(await numbersOf(ben)).toEqual(all);
  // Whatever another object reads meanwhile is in no count that is the least of several.
  const cost = async (): Promise<number> => {
    const counts: number[] = [];
    for (let i = 0; i < 3; i++) counts.push((await countDirectory(() => numbersOf(ben))).read);
    return Math.min(...counts);
  };
  const before = await cost();
  for (const person of [ana, ben, cleo]) await letBeFound(person, person === ana ? "nobody" : "whole");
  expect(await numbersOf(ben)).toEqual([ana.phone, ben.phone, ""]);
  expect(await numbersOf(ben, "?numbers=2")).toEqual([""]);
  expect(await numbersOf(ana)).toEqual(all);
  // Only where it is withheld is it read how people stand to each other.
  for (const person of [ana, ben, cleo]) await letBeFound(person, "part");
  expect(await cost()).toBeLessThanOrEqual(before + 3);
});

test("a search tells the numbers that it finds", async () => {
  const [ana, ben] = await twoPeople();
  await letBeFound(ben, "whole");
  const found = await call("POST", "/api/people/search", { token: ana.token, body: { phone: ben.phone } });
  expect(found.body).toEqual([
    { id: ben.id, username: ben.username, phone: ben.phone, avatar_url: null, state: "none" },
  ]);
});
