import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { FoundPerson } from "#contract/people.ts";
import { makeCaptchaToken, type Person, testPassword } from "#tests/support/people/people.ts";
import { stopClockInUnusedHour } from "#tests/worker/support/clock.ts";
import { signInWithProof, sixWrongPasswords, toOutcome } from "#tests/worker/support/sign-in.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/** One account for each phone number, in any notation. */

beforeEach(() =>
  env.DB.batch(["rate_limits", "phone_searches"].map((table) => env.DB.prepare(`DELETE FROM ${table}`))),
);

const trunk = (phone: string): string => `+2430${phone.slice(4)}`;
/** A number as it is pasted from a list of contacts. */
const pasted = (phone: string): string => `\u202a${phone.slice(0, 4)}\u00a0${phone.slice(4)}\u202c`;
const toArabicDigits = (phone: string): string =>
  phone.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)));
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

test("a number counts as registered in any notation", async () => {
  const ana = await makePerson();
  const notations = [trunk(ana.phone), `00${trunk(ana.phone).slice(1)}`, `243 0 ${ana.phone.slice(4)}`];
  for (const typed of [...notations, pasted(ana.phone), `tel:${ana.phone}`, toArabicDigits(ana.phone)])
    expect(await signUp(typed)).toMatchObject({ status: 422, body: { error_code: "phone_exists" } });
});

test.each([
  ["+242 6 000 0001", "+242 06 000 0001", "+242060000001"],
  ["+225 7 00 00 00 01", "+225 07 00 00 00 01", "+2250700000001"],
  ["+39 0330 000 0001", "+39 330 000 0001", "+393300000001"],
  ["+39 06 0000 0001", "+39 6 0000 0001", "+390600000001"],
])("%s and %s are one line and one account", async (first, second, stored) => {
  expect((await signUp(first)).body).toMatchObject({ user: { phone: stored } });
  expect(await signUp(second)).toMatchObject({ status: 422, body: { error_code: "phone_exists" } });
  for (const typed of [first, second]) expect((await signIn(typed)).user?.phone).toBe(stored);
});

test("a person signs in with any notation of their number", async () => {
  const ana = await makePerson();
  for (const typed of [trunk(ana.phone), pasted(ana.phone), `tel:${ana.phone}`, toArabicDigits(ana.phone)])
    expect((await signIn(typed)).user?.id).toBe(ana.id);
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

test("a search finds a number in any notation, also as it is dialled nationally", async () => {
  const [ana, owner] = [await makePerson(), await makePerson()];
  const home = `0${owner.phone.slice(4)}`;
  const international = [owner.phone, owner.phone.slice(1), `00${owner.phone.slice(1)}`, trunk(owner.phone)];
  for (const typed of [home, ...international, pasted(owner.phone), toArabicDigits(home)])
    expect((await find(ana, typed)).map(({ id, phone }) => [id, phone])).toEqual([[owner.id, owner.phone]]);
});
