import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { connectPeople, type Person, makePerson as signUpPerson } from "#tests/support/people/people.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

type Found = { id: string; phone: string; state: string }[];
const search = (by: Person, phone: string) => call("POST", "/api/people/search", { token: by.token, body: { phone } });
/** Search results with the numbers from the directory, because few of them are shown. */
const found = async (by: Person, phone: string): Promise<Found> => {
  const people = (await search(by, phone)).body as Found;
  const { results } = await env.DB.prepare(
    "SELECT id, phone FROM profiles WHERE id IN (SELECT value FROM json_each(?))",
  )
    .bind(JSON.stringify(people.map(({ id }) => id)))
    .all<{ id: string; phone: string }>();
  return people.map((one) => ({ ...one, phone: results.find(({ id }) => id === one.id)?.phone ?? "" }));
};

/** Twelve people with numbers of one range. One number starts with the digits that others only contain. */
let ana: Person;
beforeEach(() => env.DB.prepare("DELETE FROM phone_searches").run());
beforeAll(async () => {
  ana = await makePerson();
  const now = Date.now();
  const phones = [
    ...Array.from({ length: 12 }, (_, n) => `+24399000${String(n).padStart(4, "0")}`),
    "+990001234567",
    "+99000",
    "+9900012",
  ];
  await env.DB.batch(
    phones.flatMap((phone) => {
      const id = createUuid(now);
      return [
        env.DB.prepare("INSERT INTO users VALUES (?1, ?2, '', ?3, ?3)").bind(id, phone, now),
        env.DB.prepare("INSERT INTO profiles (id, username, phone, created_at) VALUES (?1, ?2, ?2, ?3)").bind(
          id,
          phone,
          now,
        ),
      ];
    }),
  );
});

test("part of a number finds at most ten people: first those whose number starts with it, and none by the last four digits", async () => {
  const people = await found(ana, "99000");
  expect(people.map(({ phone }) => phone)).toEqual([
    "+990001234567",
    ...Array.from({ length: 9 }, (_, n) => `+24399000000${n}`),
  ]);
  for (const person of people)
    expect(Object.keys(person).sort()).toEqual(["avatar_url", "id", "phone", "state", "username"]);
});

test("the exact number is found in any notation", async () => {
  for (const typed of ["+243990000011", "243990000011", "00243990000011", " +243 99 000 0011 ", "(243) 99-000-0011"]) {
    expect((await found(ana, typed)).map(({ phone }) => phone)).toEqual(["+243990000011"]);
  }
});

test("a number in national notation, with its 0, is found", async () => {
  expect((await found(ana, "0990000011")).map(({ phone }) => phone)).toEqual(["+243990000011"]);
});

test("a person does not find themselves", async () => {
  const ben = await makePerson();
  expect((await found(ben, ben.phone)).map(({ id }) => id)).not.toContain(ben.id);
  expect((await found(ana, ben.phone)).map(({ id }) => id)).toEqual([ben.id]);
});

test.each(["", "  ", "24", " 24 ", "ab", "abc", "%%%", "___", "+2-4"])("%j is too short a search", async (typed) => {
  expect(await search(ana, typed)).toMatchObject({ status: 400, body: { error_code: "query_too_short" } });
});

test.each(['24399"', "24399%", "24399*", "243 OR phone", "24399' OR '1'='1", "243) UNION SELECT", '"243" NOT "990"'])(
  "%j searches for its digits only",
  async (typed) => {
    const { status, body } = await search(ana, typed);
    expect(status).toBe(200);
    expect(Array.isArray(body)).toBe(true);
  },
);

test("a search of more than a hundred characters, or of several numbers, is refused", async () => {
  expect(await search(ana, "2".repeat(101))).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
  const several = ["243", "244"];
  const answer = await call("POST", "/api/people/search", { token: ana.token, body: { phone: several } });
  expect(answer).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
});

test("a search returns the relation of the found people to the searching one", async () => {
  const [ben, cid, dan] = [await makePerson(), await makePerson(), await makePerson()];
  const stateOf = async (by: Person, of: Person) => (await found(by, of.phone))[0]?.state;
  await connectPeople(site, ben, cid);
  await call("POST", "/api/requests", { token: ben.token, body: { to_user_id: dan.id } });
  expect(await stateOf(ben, cid)).toBe("contact");
  expect(await stateOf(cid, ben)).toBe("contact");
  expect(await stateOf(ben, dan)).toBe("sent");
  expect(await stateOf(dan, ben)).toBe("received");
  expect(await stateOf(cid, dan)).toBe("none");
});

test("too many searches are refused with the time to wait", async () => {
  expect(rateLimitPolicies.search_by_user).toEqual({ burst: 20, everyMs: 3_000 });
  const ben = await makePerson();
  expect((await search(ben, "99000")).status).toBe(200);
  await drainBucket("search_by_user", ben.id);
  const paused = await search(ben, "99000");
  expect(paused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(paused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await search(ana, "99000")).status).toBe(200);
});

test("a search reads at most a page of rows, however many people there are", async () => {
  const plan = await env.DB.prepare(
    "EXPLAIN QUERY PLAN SELECT * FROM profiles WHERE number IN (SELECT rowid FROM profile_phone_heads WHERE head MATCH '\"990\"' LIMIT 21) ORDER BY phone",
  ).all<{ detail: string }>();
  expect(plan.results.map(({ detail }) => detail).join("\n")).not.toMatch(/SCAN profiles\b(?!.*VIRTUAL)/);
});

test("the number of a deleted person is not found", async () => {
  const ben = await makePerson();
  await env.DB.prepare("DELETE FROM users WHERE id = ?").bind(ben.id).run();
  expect(await found(ana, ben.phone)).toEqual([]);
});

const profileOf = (by: Person, id: string) => call("GET", `/api/users/${id}`, { token: by.token });

test("a profile is visible to oneself, contacts and people with a pending request, and to nobody else", async () => {
  const [ben, cid, dan] = [await makePerson(), await makePerson(), await makePerson()];
  const notFound = { status: 404, body: { error_code: "user_not_found" } };
  expect(await profileOf(ben, ben.id)).toMatchObject({ status: 200, body: { phone: ben.phone } });
  const stranger = await profileOf(ben, cid.id);
  expect(stranger).toMatchObject(notFound);
  expect((await profileOf(ben, createUuid())).body).toEqual(stranger.body);

  await connectPeople(site, ben, cid);
  const seen = await profileOf(ben, cid.id);
  expect(seen.status).toBe(200);
  expect(Object.keys(seen.body as object).sort()).toEqual(["avatar_url", "created_at", "id", "phone", "username"]);
  const asked = await call("POST", "/api/requests", { token: dan.token, body: { to_user_id: ben.id } });
  expect((await profileOf(ben, dan.id)).status).toBe(200);
  expect((await profileOf(dan, ben.id)).status).toBe(200);
  const { request_id } = asked.body as { request_id: string };
  await call("POST", `/api/requests/${request_id}/decline`, { token: ben.token });
  expect(await profileOf(dan, ben.id)).toMatchObject(notFound);
  expect(await profileOf(ben, dan.id)).toMatchObject(notFound);
  expect(await profileOf(cid, dan.id)).toMatchObject(notFound);
});

test.each(["x", "01900000-0000-7000-8000", "01900000-0000-7000-8000-00000000000G", "..%2f..%2fusers"])(
  "%j is not a valid id",
  async (id) => {
    expect(await profileOf(ana, id)).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
  },
);

test("a person changes their own name, which is normalised", async () => {
  const ben = await signUpPerson(site, 950);
  const renamed = await call("PATCH", "/api/profile", { token: ben.token, body: { username: " Ben\u0301  Mbo " } });
  expect(renamed).toMatchObject({ status: 200, body: { id: ben.id, username: "Beń Mbo" } });
  expect(await profileOf(ben, ben.id)).toMatchObject({ body: { username: "Beń Mbo" } });
  expect(await call("PATCH", "/api/profile", { token: ben.token, body: {} })).toMatchObject({
    status: 200,
    body: { username: "Beń Mbo" },
  });
});

test("both routes to the own name share its limit, and a refused change writes nothing", async () => {
  const cal = await makePerson();
  const { burst } = rateLimitPolicies.profile_change_by_user;
  const byProfile = (username: string) => call("PATCH", "/api/profile", { token: cal.token, body: { username } });
  const byUser = (username: string) =>
    call("PUT", "/api/auth/user", { token: cal.token, body: { data: { username } } });
  for (let n = 0; n < burst; n++) expect((await [byProfile, byUser][n % 2]?.(`Cal ${n}`))?.status).toBe(200);
  for (const change of [byProfile, byUser]) expect((await change("Cal Mbo")).status).toBe(429);
  expect(await profileOf(cal, cal.id)).toMatchObject({ body: { username: `Cal ${burst - 1}` } });
});

test.each(["", "   ", "x".repeat(51), "Ana\u202E", "a\u0000b"])("%j is not a valid name", async (username) => {
  expect(await call("PATCH", "/api/profile", { token: ana.token, body: { username } })).toMatchObject({
    status: 400,
    body: { error_code: "invalid_name" },
  });
});
