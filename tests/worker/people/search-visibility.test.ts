import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { FindableBy } from "#contract/settings/settings.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { countDirectoryRows } from "#tests/worker/support/row-counter.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { withAdapter } from "./numbers/number-proofs.ts";

const found = async (by: Person, phone: string): Promise<string[]> => {
  const answer = await call("POST", "/api/people/search", { token: by.token, body: { phone } });
  const ids = (answer.body as { id: string }[]).map(({ id }) => id);
  const rows = await env.DB.prepare("SELECT id, phone FROM profiles WHERE id IN (SELECT value FROM json_each(?))")
    .bind(JSON.stringify(ids))
    .all<{ id: string; phone: string }>();
  // Few people see phone numbers; here it matters whose they are.
  return ids.map((id) => rows.results.find((row) => row.id === id)?.phone ?? "");
};
const letBeFound = (person: Person, findable: FindableBy) =>
  call("PATCH", "/api/settings", { token: person.token, body: { findable } });

/** Number with a unique prefix. */
let ana: Person;
let ben: Person;
beforeAll(async () => {
  ana = await makePerson();
  const made = await makePerson();
  ben = { ...made, phone: `+24388110${made.phone.slice(-4)}` };
  for (const table of ["users", "profiles"])
    await env.DB.prepare(`UPDATE ${table} SET phone = ? WHERE id = ?`).bind(ben.phone, ben.id).run();
});

// Search limits are tested elsewhere.
beforeEach(() =>
  env.DB.batch(["rate_limits", "phone_searches"].map((table) => env.DB.prepare(`DELETE FROM ${table}`))),
);

const toNotations = (phone: string) => ({
  whole: phone,
  withoutPlus: phone.slice(1),
  withZeros: `00${phone.slice(1)}`,
  atHome: `0${phone.slice(4)}`,
  national: phone.slice(4),
  beginning: phone.slice(0, -4),
  middle: phone.slice(3, -4),
});
const findBy = async (by: Person, phone: string) => {
  const hits: string[] = [];
  for (const [notation, typed] of Object.entries(toNotations(phone)))
    if ((await found(by, typed)).includes(phone)) hits.push(notation);
  return hits;
};

test("a person findable by part of their number is found by any part", async () => {
  expect(await findBy(ana, ben.phone)).toEqual(Object.keys(toNotations(ben.phone)));
});

test("nobody can find out a number's last four digits except by typing all of it", async () => {
  const { phone } = ben;
  const typed = [1, 2, 3].flatMap((missing) => [phone.slice(0, -missing), `0${phone.slice(4, -missing)}`]);
  for (const part of [...typed, phone.slice(-4), phone.slice(-5), phone.slice(3, -3), phone.slice(6)])
    expect(await found(ana, part)).not.toContain(phone);
});

test("nor by the order or the membership of results", async () => {
  const now = Date.now();
  const tails = [9_000, 1_000, 5_000, 9_999, 0, 7_000, 3_000, 8_000, 2_000, 6_000, 4_000, 100];
  const phones = tails.map((tail) => `+24388220${String(tail).padStart(4, "0")}`);
  for (const phone of phones) {
    const id = createUuid(now);
    await env.DB.batch([
      env.DB.prepare("INSERT INTO users VALUES (?1, ?2, '', ?3, ?3)").bind(id, phone, now),
      env.DB.prepare("INSERT INTO profiles (id, username, phone, created_at) VALUES (?1, 'Cal', ?2, ?3)").bind(
        id,
        phone,
        now,
      ),
    ]);
  }
  for (const part of ["24388220", "88220"]) expect(await found(ana, part)).toEqual(phones.slice(0, 10));
});

test("a person findable by the whole number only is found by nothing less, in any notation", async () => {
  await letBeFound(ben, "whole");
  expect(await findBy(ana, ben.phone)).toEqual(["whole", "withoutPlus", "withZeros", "atHome", "national"]);
  await letBeFound(ben, "part");
  expect(await findBy(ana, ben.phone)).toEqual(Object.keys(toNotations(ben.phone)));
});

test("a number with its 0 and some digits fewer does not count as the whole number", async () => {
  await letBeFound(ben, "whole");
  for (const typed of [`0${ben.phone.slice(5)}`, `0${ben.phone.slice(3)}`, `0${ben.phone.slice(6)}`])
    expect(await found(ana, typed)).not.toContain(ben.phone);
  await letBeFound(ben, "part");
});

test("a person who is not findable is found by nobody, not even a contact, and stays in that contact's list", async () => {
  const cal = await makePerson();
  await connectPeople(site, ana, cal);
  await letBeFound(cal, "nobody");
  expect(await findBy(ana, cal.phone)).toEqual([]);
  const contacts = await call("GET", "/api/contacts", { token: ana.token });
  expect(JSON.stringify(contacts.body)).toContain(cal.id);
});

test("people who are not findable take no place in results, and the search costs the same", async () => {
  const now = Date.now();
  const hidden = Array.from({ length: 30 }, (_, n) => `+24388000${String(n).padStart(4, "0")}`);
  const shown = Array.from({ length: 12 }, (_, n) => `+24388000${String(50 + n).padStart(4, "0")}`);
  const people = [...hidden, ...shown].map((phone) => ({ id: createUuid(now), phone }));
  await env.DB.batch(
    people.flatMap(({ id, phone }) => [
      env.DB.prepare("INSERT INTO users VALUES (?1, ?2, '', ?3, ?3)").bind(id, phone, now),
      env.DB.prepare("INSERT INTO profiles (id, username, phone, created_at) VALUES (?1, ?2, ?2, ?3)").bind(
        id,
        phone,
        now,
      ),
      ...(hidden.includes(phone)
        ? [
            env.DB.prepare(
              "INSERT INTO settings (user_id, version, receipts, presence, findable, notices, tala) VALUES (?, 1, 1, 1, 'whole', '{}', 1)",
            ).bind(id),
          ]
        : []),
    ]),
  );
  expect(await found(ana, "24388000")).toEqual(shown.slice(0, 10));
  expect(await found(ana, "88000")).toEqual(shown.slice(0, 10));
  expect(await found(ana, hidden[3] ?? "")).toEqual([hidden[3]]);
  const { read } = await countDirectoryRows(() => found(ana, "24388000"));
  expect(read).toBeLessThan(600);
});

test("where numbers can be verified, an unverified one is found only by typing all of it; elsewhere nothing changes", async () => {
  const verifiable = withAdapter("sms", { prefixes: ["+24388"] });
  const elsewhere = withAdapter("sms", { prefixes: ["+24389", "+33"] });
  const isFound = async (settings: typeof verifiable, phone: string) => {
    const answer = await callWith(settings, "POST", "/api/people/search", { token: ana.token, body: { phone } });
    return (answer.body as { id: string }[]).some(({ id }) => id === ben.id);
  };
  const { beginning, middle, whole } = toNotations(ben.phone);
  await letBeFound(ben, "part");
  const find = (settings: typeof verifiable) =>
    Promise.all([beginning, middle, whole].map((phone) => isFound(settings, phone)));
  expect(await find(verifiable)).toEqual([false, false, true]);
  expect(await find(elsewhere)).toEqual([true, true, true]);
  await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(ben.id).run();
  expect(await find(verifiable)).toEqual([true, true, true]);
});

test("many unverified numbers hide no verified one from a partial search, at the same cost", async () => {
  const verifiable = withAdapter("sms", { prefixes: ["+24387"] });
  const now = Date.now();
  const insert = (count: number, from: number, verifiedAt: number | null) => {
    const people = Array.from({ length: count }, (_, n) => ({
      id: createUuid(now),
      phone: `+24387111${String(from + n).padStart(4, "0")}`,
    }));
    return env.DB.batch(
      [
        "INSERT INTO users SELECT value->>'id', value->>'phone', '', ?2, ?2 FROM json_each(?1)",
        `INSERT INTO profiles (id, username, phone, created_at, verified_at)
         SELECT value->>'id', 'Cal', value->>'phone', ?2, ${verifiedAt} FROM json_each(?1)`,
      ].map((statement) => env.DB.prepare(statement).bind(JSON.stringify(people), now)),
    );
  };
  const find = async (phone: string) => {
    const answer = await callWith(verifiable, "POST", "/api/people/search", { token: ana.token, body: { phone } });
    return (answer.body as unknown[]).length;
  };
  await insert(300, 0, null);
  await insert(3, 9_000, 1);
  expect([await find("24387111"), await find("87111"), await find("0871")]).toEqual([3, 3, 3]);
  const { read } = await countDirectoryRows(() => find("24387111"));
  expect(read).toBeLessThan(600);
  // The index follows the verification and the number.
  await env.DB.prepare("UPDATE profiles SET verified_at = NULL WHERE phone = '+243871119000'").run();
  await env.DB.prepare("UPDATE profiles SET phone = '+243861119001' WHERE phone = '+243871119001'").run();
  expect([await find("24387111"), await find("87111")]).toEqual([1, 1]);
  await env.DB.prepare("UPDATE profiles SET verified_at = 2 WHERE phone = '+243871119000'").run();
  await env.DB.prepare("DELETE FROM users WHERE phone = '+243871119002'").run();
  expect([await find("24387111"), await find("87111")]).toEqual([1, 1]);
});

test("a search for the number of somebody who is not findable is answered as for a number without an account", async () => {
  const free = `${ben.phone.slice(0, -4)}9999`;
  await letBeFound(ben, "nobody");
  const answers: unknown[] = [];
  for (const phone of [ben.phone, free]) {
    const { status, body, headers } = await call("POST", "/api/people/search", { token: ana.token, body: { phone } });
    answers.push({ status, body, type: headers.get("content-type") });
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]).toMatchObject({ status: 200, body: [] });
});
