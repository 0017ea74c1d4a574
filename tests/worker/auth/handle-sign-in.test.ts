import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import type { Person } from "#tests/support/people/people.ts";
import { signInByPassword, signInWithProof, toOutcome } from "#tests/worker/support/sign-in.ts";
import { call, makePerson, refillBuckets } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

beforeEach(() => refillBuckets("sign_in_by_address"));

const chooseHandle = async (handle: string): Promise<Person> => {
  const person = await makePerson();
  const answer = await call("PUT", "/api/handle", { token: person.token, body: { handle } });
  expect(answer.status).toBe(200);
  return person;
};
const refused = { status: 400, body: { error_code: "invalid_credentials" } };

test("a person signs in with the handle and the password, in any case and with spaces around it", async () => {
  const ana = await chooseHandle("ana.signs.in");
  for (const typed of ["@ana.signs.in", " @Ana.Signs.In "]) {
    const { answer } = await signInWithProof(typed, ana.password);
    expect(answer).toMatchObject({ status: 200, body: { user: { id: ana.id, phone: ana.phone } } });
  }
  expect((await signInWithProof("@ana.signs.in", "Wrong2026")).answer).toMatchObject(refused);
});

test("a handle that looks alike, was removed or belongs to somebody else signs nobody in", async () => {
  const ana = await chooseHandle("paulo.signs.in");
  const wrong = await Promise.all(
    ["@pau1o.signs.in", "@paulosignsin", "@nobody.signs.in"].map((name) => signInWithProof(name, ana.password)),
  );
  for (const { answer } of wrong) expect(answer).toMatchObject(refused);
  await call("DELETE", "/api/handle", { token: ana.token });
  expect((await signInWithProof("@paulo.signs.in", ana.password)).answer).toMatchObject(refused);
  expect((await signInWithProof(ana.phone, ana.password)).answer.status).toBe(200);
  for (const name of ["@", "@ana", "paulo.signs.in", "@+243810000001"])
    expect((await signInByPassword(name, ana.password)).status).toBe(400);
});

test("a known and an unknown handle cause the same queries and the same answer", async () => {
  await chooseHandle("known.handle");
  const seen = [];
  for (const phone of ["@known.handle", "@other.handle"]) {
    const asked: string[] = [];
    const DB = {
      prepare: (query: string) => {
        asked.push(query);
        return env.DB.prepare(query);
      },
      batch: (list: D1PreparedStatement[]) => env.DB.batch(list),
    };
    const headers = { "cf-connecting-ip": phone === "@known.handle" ? "203.0.113.70" : "203.0.113.71" };
    const body = { phone, password: "Wrong2026" };
    const { status, body: answer } = await callWith({ DB }, "POST", "/api/auth/token?grant_type=password", {
      headers,
      body,
    });
    seen.push({ status, answer, asked });
  }
  expect(seen[0]).toMatchObject({ status: 400, answer: { error_code: "invalid_credentials" } });
  expect(seen[0]?.asked.length).toBeGreaterThan(2);
  expect(seen[1]).toEqual(seen[0]);
});

test("wrong passwords are limited for a handle, and do not reveal whose number it is", async () => {
  const ana = await chooseHandle("limited.handle");
  const headers = { "cf-connecting-ip": "203.0.113.72" };
  const outcomes = [];
  for (let n = 0; n < 6; n++) {
    await refillBuckets("sign_in_by_address");
    outcomes.push(toOutcome(await signInWithProof("@limited.handle", "Wrong2026", headers)));
  }
  expect(outcomes.map(({ error_code }) => error_code)).toEqual([
    ...Array.from({ length: 5 }, () => "invalid_credentials"),
    "rate_limited",
  ]);
  expect(toOutcome(await signInWithProof(ana.phone, "Wrong2026", headers)).error_code).toBe("invalid_credentials");
});
