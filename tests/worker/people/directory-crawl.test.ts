import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { phoneSearchMaxResults, searchesPerDayNew } from "#contract/limits/phone-numbers.ts";
import type { FoundPerson } from "#contract/people.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { callWith, callWithLimits } from "#tests/worker/support/wrapped-site.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { withAdapter } from "./numbers/number-proofs.ts";

afterEach(() => {
  vi.useRealTimers();
});

const minuteMs = 60_000;
const crawlers = 5; // of 250 accounts: each has its own limits, so what all learn is this times fifty
const accounts = 250;

/** Inserts people whose numbers begin alike, ten in each range of four last digits. */
const seedCountry = (head: string, ranges: number) => {
  const now = Date.now();
  const people = Array.from({ length: ranges * 10 }, (_, n) => ({
    id: createUuid(now),
    phone: `${head}${String(Math.floor(n / 10)).padStart(3, "0")}${String((n % 10) * 7).padStart(4, "0")}`,
    name: `Habitant ${n}`,
  }));
  return env.DB.batch(
    [
      "INSERT INTO users SELECT value->>'id', value->>'phone', '', ?2, ?2 FROM json_each(?1)",
      `INSERT INTO profiles (id, username, phone, created_at)
       SELECT value->>'id', value->>'name', value->>'phone', ?2 FROM json_each(?1)`,
    ].map((statement) => env.DB.prepare(statement).bind(JSON.stringify(people), now)),
  );
};

test("250 accounts that crawl for an hour learn no number, and no more names than their searches have results", async () => {
  const head = "+25577";
  await seedCountry(head, 200);
  const people = await Promise.all(Array.from({ length: crawlers }, seedPerson));
  const start = Date.now();
  const learned = await Promise.all(
    people.map(async (person, index) => {
      const names = new Set<string>();
      const numbers = new Set<string>();
      const codes: string[] = [];
      for (let minute = 0; minute < 60; minute += 2) {
        vi.useFakeTimers({ toFake: ["Date"], now: start + minute * minuteMs });
        const token = await signAccessToken(env, { sub: person.id, sid: person.session, gen: 0 });
        // Every range once, as a crawler does that walks through the prefixes.
        const range = String((index * 40 + minute) % 200).padStart(3, "0");
        const body = { phone: `${head}${range}` };
        const answer = await callWithLimits("POST", "/api/people/search", { token, body });
        codes.push(answer.status === 200 ? "ok" : (answer.body as { error_code: string }).error_code);
        for (const { username, phone } of answer.status === 200 ? (answer.body as FoundPerson[]) : []) {
          names.add(username);
          if (/\d{4}/.test(phone)) numbers.add(phone);
        }
      }
      return { names: names.size, numbers: numbers.size, codes };
    }),
  );
  for (const { names, numbers, codes } of learned) {
    expect(numbers).toBe(0);
    expect(names).toBe(searchesPerDayNew * phoneSearchMaxResults);
    expect(codes.filter((code) => code === "ok")).toHaveLength(searchesPerDayNew);
    expect(new Set(codes.slice(searchesPerDayNew))).toEqual(new Set(["searches_used_up"]));
  }
  const namesOfAll = (learned.reduce((sum, { names }) => sum + names, 0) / crawlers) * accounts;
  expect(namesOfAll).toBeLessThanOrEqual(accounts * searchesPerDayNew * phoneSearchMaxResults);
});

test("of a deployment that verifies numbers, the same crawl learns no name of an unverified account", async () => {
  const head = "+25578";
  await seedCountry(head, 5);
  const person = await seedPerson();
  const settings = withAdapter("sms", { prefixes: ["+255"] });
  for (const range of ["000", "001", "004"]) {
    const body = { phone: `${head}${range}` };
    expect((await callWith(settings, "POST", "/api/people/search", { token: person.token, body })).body).toEqual([]);
  }
});
