import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { searchesPerDayNew } from "#contract/limits/phone-numbers.ts";
import { type NumberLookupResult, numberLookupMax } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { callWithLimits } from "#tests/worker/support/wrapped-site.ts";

/** Looking up several numbers at once: from the device's contacts, or pasted. */

const lookUp = async (by: Person, phones: string[]): Promise<NumberLookupResult["results"]> => {
  await env.DB.prepare("DELETE FROM rate_limits").run(); // tested for all routes
  const answer = await callWithLimits("POST", "/api/people/lookup", { token: by.token, body: { phones } });
  expect(answer.status).toBe(200);
  return (answer.body as NumberLookupResult).results;
};
const unused = (n: number): string => `+24399500${String(n).padStart(4, "0")}`;
const countStatuses = (results: NumberLookupResult["results"]) => {
  const count = (wanted: string) => results.filter(({ status }) => status === wanted).length;
  return { found: count("found"), none: count("none"), not_searched: count("not_searched") };
};
const listHashes = async (person: Person): Promise<string[]> =>
  (
    await env.DB.prepare("SELECT hash FROM phone_searches WHERE user_id = ?").bind(person.id).all<{ hash: string }>()
  ).results.map(({ hash }) => hash);

test("numbers in any form find their people, in order, with the state of the relation", async () => {
  const [ana, ben, cal] = [await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, ana, cal);
  const national = `0${ben.phone.slice(4)}`;
  const spaced = ben.phone.replace(/^\+243(..)(...)(....)$/, "00243 $1 $2-$3");
  const results = await lookUp(ana, [national, unused(1), cal.phone, spaced, "no number", ana.phone]);
  const found = { status: "found", person: { id: ben.id, username: ben.username, phone: ben.phone, state: "none" } };
  expect(results).toMatchObject([
    found,
    { status: "none" },
    { status: "found", person: { id: cal.id, state: "contact" } },
    found,
    { status: "none" },
    { status: "none" },
  ]);
  // ben, cal, the unused number and one's own: a number written in two ways counts once.
  expect(await listHashes(ana)).toHaveLength(4);
});

test("a person who is found by nobody looks like a number without an account", async () => {
  const [ana, ben, dan] = [await makePerson(), await makePerson(), await makePerson()];
  await call("PATCH", "/api/settings", { token: ben.token, body: { findable: "nobody" } });
  await call("PATCH", "/api/settings", { token: dan.token, body: { findable: "whole" } });
  const [hidden, absent, whole] = await lookUp(ana, [ben.phone, unused(2), dan.phone]);
  expect(hidden).toEqual(absent);
  expect(whole).toMatchObject({ status: "found", person: { id: dan.id } });
});

test("each number counts as a search of the day, the rest is not looked up, and known numbers are free", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const first = await lookUp(ana, [ben.phone, ...Array.from({ length: searchesPerDayNew - 3 }, (_, n) => unused(n))]);
  expect(countStatuses(first)).toEqual({ found: 1, none: searchesPerDayNew - 3, not_searched: 0 });
  const second = await lookUp(ana, [ben.phone, ...Array.from({ length: 10 }, (_, n) => unused(100 + n))]);
  expect(countStatuses(second)).toEqual({ found: 1, none: 2, not_searched: 8 });
  const search = await callWithLimits("POST", "/api/people/search", { token: ana.token, body: { phone: "998877" } });
  expect(search).toMatchObject({ status: 429, body: { error_code: "searches_used_up" } });
  expect(await lookUp(ana, [ben.phone])).toMatchObject([{ status: "found" }]);
});

test("lists sent at the same time share the searches of the day", async () => {
  const ana = await makePerson();
  const lists = [0, 1].map((list) => Array.from({ length: 15 }, (_, n) => unused(200 + list * 50 + n)));
  const results = (await Promise.all(lists.map((list) => lookUp(ana, list)))).flat();
  expect(results.filter(({ status }) => status === "none")).toHaveLength(searchesPerDayNew);
});

test("nothing of the numbers is stored but keyed hashes, of which a person has their own", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  for (const person of [ana, ben]) await lookUp(person, [unused(300)]);
  const [[anas], [bens]] = [await listHashes(ana), await listHashes(ben)];
  expect(anas).toMatch(/^[\w-]{22}$/);
  expect(anas).not.toBe(bens);
});

test("lists that are empty or too long, and numbers that are too long, are refused", async () => {
  const ana = await makePerson();
  for (const phones of [
    [],
    Array.from({ length: numberLookupMax + 1 }, (_, n) => unused(n)),
    ["1".repeat(41)],
    "243",
  ]) {
    await env.DB.prepare("DELETE FROM rate_limits").run();
    const answer = await callWithLimits("POST", "/api/people/lookup", { token: ana.token, body: { phones } });
    expect(answer).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
  }
  expect(await listHashes(ana)).toEqual([]);
});
