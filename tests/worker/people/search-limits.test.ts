import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import { newAccountHours, searchesPerDay, searchesPerDayNew } from "#contract/limits/phone-numbers.ts";
import type { Person } from "#tests/support/people/people.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";
import { callWithLimits } from "#tests/worker/support/wrapped-site.ts";

/** Daily limits of different numbers and prefixes that a person may search for. */

// The rate limit of searches is tested elsewhere.
beforeEach(() => env.DB.prepare("DELETE FROM rate_limits").run());

const search = async (by: Person, digits: string): Promise<string> => {
  await env.DB.prepare("DELETE FROM rate_limits").run();
  const answer = await callWithLimits("POST", "/api/people/search", { token: by.token, body: { phone: digits } });
  return answer.status === 200 ? "found" : (answer.body as { error_code: string }).error_code;
};
const searchMany = async (by: Person, count: number, from = 0): Promise<string[]> => {
  const answers: string[] = [];
  for (let n = from; n < from + count; n++) answers.push(await search(by, `${7_000 + n}`));
  return answers;
};
const age = (person: Person) =>
  env.DB.prepare("UPDATE users SET created_at = created_at - ? WHERE id = ?")
    .bind((newAccountHours + 1) * 3_600_000, person.id)
    .run();

test("a new account has twenty searches a day, an older one sixty, and repeating a search is free", async () => {
  const ana = await makePerson();
  expect(new Set(await searchMany(ana, searchesPerDayNew))).toEqual(new Set(["found"]));
  expect(await search(ana, "9999")).toBe("searches_used_up");
  expect(await search(ana, "7003")).toBe("found");
  await age(ana);
  expect(new Set(await searchMany(ana, searchesPerDay - searchesPerDayNew, 100))).toEqual(new Set(["found"]));
  const refused = await callWithLimits("POST", "/api/people/search", { token: ana.token, body: { phone: "9999" } });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "searches_used_up" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(23 * 3_600);
  await env.DB.prepare("UPDATE phone_searches SET searched_at = searched_at - ?")
    .bind(24 * 3_600_000)
    .run();
  expect(await search(ana, "9999")).toBe("found");
});

test("a longer prefix of the same number is the same search, a different ending is not", async () => {
  const ana = await makePerson();
  const typed = "243990000099";
  for (let length = 3; length <= typed.length; length++)
    expect(await search(ana, typed.slice(0, length))).toBe("found");
  expect(new Set(await searchMany(ana, searchesPerDayNew - 1))).toEqual(new Set(["found"]));
  expect(await search(ana, "70180")).toBe("found"); // continues the last one, 7018
  expect(await search(ana, "70181")).toBe("searches_used_up");
  expect(await search(ana, "9999")).toBe("searches_used_up");
});

test("deleting digits and typing them again is free, other digits in their place are not", async () => {
  const ana = await makePerson();
  await searchMany(ana, searchesPerDayNew - 2);
  for (const typed of ["0810", "08100", "081000", "08100", "0810", "08100", "081000", "0810000"])
    expect(await search(ana, typed)).toBe("found");
  expect(await search(ana, "08101")).toBe("found"); // the twentieth: 0810 already became 08100
  expect(await search(ana, "08102")).toBe("searches_used_up");
  expect(await search(ana, "08100001")).toBe("searches_used_up"); // continues an earlier search, but not the last one
  expect(await search(ana, "081011")).toBe("found");
});

test("searches from before the clock was set back do not count for today", async () => {
  const ana = await makePerson();
  await searchMany(ana, searchesPerDayNew);
  expect(await search(ana, "9999")).toBe("searches_used_up");
  await env.DB.prepare("UPDATE phone_searches SET searched_at = searched_at + ? WHERE user_id = ?")
    .bind(365 * 24 * 3_600_000, ana.id)
    .run();
  expect(await search(ana, "9999")).toBe("found");
});

test("simultaneous searches do not exceed the limit", async () => {
  const ana = await makePerson();
  const answers = await Promise.all(
    Array.from({ length: 2 * searchesPerDayNew }, (_, n) =>
      callWithLimits("POST", "/api/people/search", { token: ana.token, body: { phone: `${8_000 + n}` } }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(searchesPerDayNew);
  await env.DB.prepare("DELETE FROM rate_limits").run();
  const beginning = await makePerson();
  expect(await search(beginning, "2439")).toBe("found");
  await searchMany(beginning, searchesPerDayNew - 2, 300);
  expect(await search(beginning, "2438")).toBe("found");
  const endings = await Promise.all(
    Array.from({ length: 9 }, (_, n) =>
      callWithLimits("POST", "/api/people/search", { token: beginning.token, body: { phone: `2438${n}` } }),
    ),
  );
  expect(endings.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("a local server with lifted limits lets a new account search on", async () => {
  const ana = await makePerson();
  for (let n = 0; n <= searchesPerDayNew; n++) {
    await env.DB.prepare("DELETE FROM rate_limits").run();
    const answer = await call("POST", "/api/people/search", { token: ana.token, body: { phone: `${7_000 + n}` } });
    expect(answer.status).toBe(200);
  }
});
