import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { newAccountHours, numberCodesPerDayNew } from "#contract/limits/phone-numbers.ts";
import { type Person, phoneOf } from "#tests/support/people/people.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { makeNumberToken, renew, requestProof, withAdapter, withAdapters } from "./number-proofs.ts";

/** Codes cost the operator money: what an attacker with many young accounts can use up. */

const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;
const production = { ...withAdapters(), LOCAL_LIMIT_FACTOR: "1" };
const nobodysNumber = () => phoneOf(takePersonNumber());

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(new Response("{}", { status: 201 })));
});

const makeOld = async (person: Person): Promise<void> => {
  const created = Date.now() - (newAccountHours + 1) * 3_600_000;
  await env.DB.prepare("UPDATE profiles SET created_at = ? WHERE id = ?").bind(created, person.id).run();
};
/** Requests a code, to the own number by default, and returns the error code. */
const ask = async (person: Person, phone?: string, bindings = production) =>
  codeOf(await requestProof(await renew(person), "sms_code", bindings, phone === undefined ? {} : { phone }));
/** Level of the proof of work that a code to the person's number needs. */
const readLevel = async ({ token }: Person, bindings = production): Promise<number> => {
  const { body } = await callWith(bindings, "POST", "/api/number/challenge", { token, body: {} });
  return (body as { parameters: { data: { level: number } } }).parameters.data.level;
};

test("a code needs a proof of work for this number, valid once", async () => {
  const ana = await renew(await makePerson());
  const start = (captcha_token?: string) =>
    callWith(production, "POST", "/api/number/proofs", {
      token: ana.token,
      body: { method: "sms_code", ...(captcha_token === undefined ? {} : { captcha_token }) },
    });
  expect(codeOf(await start())).toBe("captcha_failed");
  expect(codeOf(await start(await makeNumberToken(ana, { phone: nobodysNumber() })))).toBe("captcha_failed");
  const token = await makeNumberToken(ana);
  expect((await start(token)).status).toBe(201);
  expect(codeOf(await start(token))).toBe("captcha_failed");
  expect(globalThis.fetch).toHaveBeenCalledTimes(1);
});

test("a young account is sent two codes a day, to one number besides its own", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [first, second] = [nobodysNumber(), nobodysNumber()];
  for (let n = 0; n < numberCodesPerDayNew; n++) expect(await ask(ana, first)).toBeUndefined(); // sent again
  expect(await ask(ana, first)).toBe("number_proofs_used_up");
  expect(await ask(ana)).toBe("number_proofs_used_up");

  expect(await ask(ben, first)).toBeUndefined();
  expect(await ask(ben, second)).toBe("number_proofs_used_up");
  expect(await ask(ben)).toBeUndefined(); // a refused number counts for nothing
  await makeOld(ben);
  expect(await ask(ben, second)).toBeUndefined();
});

test("half of a day's codes are kept for people's own numbers", async () => {
  const small = { ...withAdapter("sms", { id: "shared", per_day: 4 }), LOCAL_LIMIT_FACTOR: "1" };
  for (let n = 0; n < 2; n++) expect(await ask(await makePerson(), nobodysNumber(), small)).toBeUndefined();
  expect(await ask(await makePerson(), nobodysNumber(), small)).toBe("number_method_unavailable");
  for (let n = 0; n < 2; n++) expect(await ask(await makePerson(), undefined, small)).toBeUndefined();
  expect(await ask(await makePerson(), undefined, small)).toBe("number_method_unavailable");
});

test("codes need more work as the day's budget is used up", async () => {
  const small = { ...withAdapter("sms", { id: "emptying", per_day: 4 }), LOCAL_LIMIT_FACTOR: "1" };
  const late = await renew(await makePerson());
  const easy = await makeNumberToken(late, { bindings: small });
  const levels = [await readLevel(late, small)];
  for (let n = 0; n < 3; n++) {
    expect(await ask(await makePerson(), undefined, small)).toBeUndefined();
    levels.push(await readLevel(late, small));
  }
  expect(levels).toEqual([0, 0, 1, 2]);
  const body = { method: "sms_code", captcha_token: easy };
  expect(codeOf(await callWith(small, "POST", "/api/number/proofs", { token: late.token, body }))).toBe(
    "captcha_failed",
  );
  expect(await ask(late, undefined, small)).toBeUndefined();
});

test("codes need more work where many proofs of work were spent, as registration does", async () => {
  const ana = await makePerson();
  expect(await ask(ana)).toBeUndefined();
  const spent = "UPDATE rate_limits SET full_at = ? WHERE key LIKE 'spent_proofs_by_address:%'";
  await env.DB.prepare(spent)
    .bind(Date.now() + 36 * 15_000)
    .run();
  expect(await readLevel(ana)).toBe(2);
  await env.DB.prepare(spent).bind(0).run();
});
