import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { FoundPerson } from "#contract/people.ts";
import { makeCaptchaToken, type Person, testPassword } from "#tests/support/people/people.ts";
import { stopClockInUnusedHour } from "#tests/worker/support/clock.ts";
import { signInWithProof, sixWrongPasswords, toOutcome } from "#tests/worker/support/sign-in.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/** One account for each phone number, in any notation, and accounts from before numbers were normalised. */

beforeEach(() =>
  env.DB.batch(["rate_limits", "phone_searches"].map((table) => env.DB.prepare(`DELETE FROM ${table}`))),
);

const trunk = (phone: string): string => `+2430${phone.slice(4)}`;
const signUp = async (phone: string) =>
  call("POST", "/api/auth/signup", {
    body: {
      phone,
      password: testPassword,
      data: { username: "Imposteur" },
      gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, { action: "sign_up", subject: phone }) },
    },
  });
const signIn = async (phone: string, password = testPassword) =>
  (await call("POST", "/api/auth/token?grant_type=password", { body: { phone, password } })).body as Partial<Session>;
const find = async (by: Person, phone: string) =>
  (await call("POST", "/api/people/search", { token: by.token, body: { phone } })).body as FoundPerson[];
/** Stores an account as before normalisation: with the 0 in its number. */
const rewrite = async (person: Person, phone: string): Promise<void> => {
  for (const table of ["users", "profiles"])
    await env.DB.prepare(`UPDATE ${table} SET phone = ? WHERE id = ?`).bind(phone, person.id).run();
};

test("a number with its trunk 0 counts as registered if the number is, and the reverse", async () => {
  const ana = await makePerson();
  for (const typed of [trunk(ana.phone), `00${trunk(ana.phone).slice(1)}`, `243 0 ${ana.phone.slice(4)}`])
    expect(await signUp(typed)).toMatchObject({ status: 422, body: { error_code: "phone_exists" } });
  const ben = await makePerson();
  await rewrite(ben, trunk(ben.phone));
  expect(await signUp(ben.phone)).toMatchObject({ status: 422, body: { error_code: "phone_exists" } });
});

test("a new account's number is stored without a trunk 0", async () => {
  const { body } = await signUp("+243 0 81 555 00 01");
  expect(body).toMatchObject({ user: { phone: "+243815550001" } });
});

test("an older account can sign in with either form; if both forms are accounts, the typed one is used", async () => {
  const ana = await makePerson();
  expect((await signIn(trunk(ana.phone))).user?.id).toBe(ana.id);
  const ben = await makePerson();
  const stored = ben.phone;
  await rewrite(ben, trunk(stored));
  for (const typed of [stored, trunk(stored)]) expect((await signIn(typed)).user?.id).toBe(ben.id);
  const cleo = await makePerson();
  await rewrite(cleo, stored);
  expect((await signIn(stored)).user?.id).toBe(cleo.id);
  expect((await signIn(trunk(stored))).user?.id).toBe(ben.id);
});

test("wrong passwords are counted per number, whichever form is typed", async () => {
  const ana = await makePerson();
  stopClockInUnusedHour();
  const outcomes: unknown[] = [];
  for (let n = 0; n < 6; n++) {
    const phone = n % 2 === 0 ? ana.phone : trunk(ana.phone);
    outcomes.push(toOutcome(await signInWithProof(phone, "Wrong2026", { "cf-connecting-ip": "203.0.113.85" })));
  }
  expect(outcomes).toEqual(sixWrongPasswords);
});

test("a number as dialled nationally finds its owner before a person who has it in another form", async () => {
  const [ana, owner, other] = [await makePerson(), await makePerson(), await makePerson()];
  owner.phone = `+24385510${owner.phone.slice(-4)}`; // no other number starts like this
  await rewrite(owner, owner.phone);
  await rewrite(other, trunk(owner.phone));
  const home = `0${owner.phone.slice(4)}`;
  for (const typed of [home, owner.phone, owner.phone.slice(1), `00${owner.phone.slice(1)}`]) {
    const found = await find(ana, typed);
    expect(found.map(({ id }) => id)).toEqual([owner.id, other.id]);
    expect(found.map(({ phone }) => phone)).toEqual([owner.phone, trunk(owner.phone)]);
  }
  expect((await find(ana, trunk(owner.phone))).map(({ id }) => id)).toEqual([other.id, owner.id]);
  // A part of the number finds both too.
  expect((await find(ana, home.slice(0, -4))).map(({ id }) => id)).toEqual(
    expect.arrayContaining([owner.id, other.id]),
  );
});
