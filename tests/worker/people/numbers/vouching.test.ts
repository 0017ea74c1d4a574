import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { OwnVouching, VouchingRequest } from "#contract/auth/vouching.ts";
import { numberUnusedDays, voucherDays, vouchesMax, vouchingHours } from "#contract/limits/phone-numbers.ts";
import { connectPeople, makeCaptchaToken, type Person, phoneOf } from "#tests/support/people/people.ts";
import { request } from "#tests/worker/support/device.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { countDirectoryWork } from "#tests/worker/support/row-counter.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { advanceFrozenClock, freezeClock, resumeClock } from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { purgeNumberProofs } from "#worker/people/numbers/queries.ts";
import { readTrust } from "#worker/people/trust.ts";
import {
  postMessage,
  readOwnNumber,
  requestProof,
  startProof,
  toMessageWebhook,
  withAdapters,
} from "./number-proofs.ts";

/** Contacts who vouch for a number (docs/decisions/vouching.md), and attacks on it. */

const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;
const daySeconds = 24 * 3_600;
const call = (method: string, path: string, by: Person, body?: object) =>
  callWith(withAdapters(), method, path, { token: by.token, ...(body && { body }) });

beforeEach(freezeClock);
afterEach(resumeClock);

/** Opens a session now: tokens are short-lived. */
const renew = async (person: Person): Promise<void> => {
  const session = createSessionRow(person.id, Date.now(), { proved_at: Date.now() });
  await insertSession(openDb(env), session);
  person.token = await signAccessToken(env, { sub: person.id, sid: session.id, gen: 0 });
};
const passDays = async (days: number, people: Person[]): Promise<void> => {
  advanceFrozenClock(days * daySeconds);
  for (const person of people) await renew(person);
};

/** Proves a number by a message from it, as its owner does. */
const prove = async (person: Person): Promise<void> => {
  const { ask } = await startProof(person, "whatsapp_message");
  if (ask.kind !== "message") throw new Error("no message");
  await postMessage(toMessageWebhook((await readOwnNumber(person)).phone, ask.text));
};

const makeVerified = async (): Promise<Person> => {
  const person = await makePerson();
  await prove(person);
  return person;
};

/** People with verified numbers, contacts of these ones. */
const makeVouchers = async (subjects: Person[], count: number): Promise<Person[]> => {
  const vouchers: Person[] = [];
  for (let n = 0; n < count; n++) {
    const voucher = await makeVerified();
    for (const subject of subjects) await connectPeople(site, subject, voucher);
    vouchers.push(voucher);
  }
  return vouchers;
};

/** Starts a proof by vouching. Returns the token of its code. */
const showCode = async (person: Person): Promise<string> => {
  const { ask } = await startProof(person, "vouching");
  if (ask.kind !== "vouching") throw new Error("no code");
  expect(ask.qr_code).toContain("<svg");
  return ask.url.split("/app/v/")[1] ?? "";
};
const scan = (by: Person, token: string) => call("GET", `/api/vouching/${token}`, by);
const confirm = (by: Person, token: string) => call("PUT", `/api/vouching/${token}`, by);
const confirmed = async (person: Person) => (await readOwnNumber(person)).vouching?.confirmed;

/** A person with vouchers of more than thirty days. */
const makeSubject = async (count: number): Promise<[subject: Person, vouchers: Person[]]> => {
  const subject = await makePerson();
  const vouchers = await makeVouchers([subject], count);
  await passDays(voucherDays + 1, [subject, ...vouchers]);
  return [subject, vouchers];
};

test("two verified contacts vouch for a number, which counts as verified, in a lower tier than by another method", async () => {
  const [ana, [ben, cal]] = (await makeSubject(2)) as [Person, [Person, Person]];
  expect((await readOwnNumber(ana)).methods.at(-1)).toBe("vouching");
  const token = await showCode(ana);
  expect(await confirmed(ana)).toBe(0);
  const asked = { user_id: ana.id, phone: ana.phone, has_confirmed: false } satisfies VouchingRequest;
  expect((await scan(ben, token)).body).toEqual(asked);
  expect((await confirm(ben, token)).status).toBe(204);
  expect((await scan(ben, token)).body).toEqual({ ...asked, has_confirmed: true });
  expect(await readOwnNumber(ana)).toMatchObject({ verified_at: null, vouching: { confirmed: 1 } });

  advanceFrozenClock((vouchingHours - 1) * 3_600);
  for (const person of [ana, cal]) await renew(person); // the code outlives the tokens, but not its own session
  expect((await confirm(cal, token)).status).toBe(204);
  const own = await readOwnNumber(ana);
  expect(own).toMatchObject({ phone: ana.phone, verified_at: expect.any(Number), is_vouched: true, vouching: null });
  expect(own.methods).not.toContain("vouching");
  const search = await call("POST", "/api/people/search", cal, { phone: ana.phone });
  expect(search.body).toMatchObject([{ id: ana.id, verified: true }]);

  // Some contacts more would lead to the highest tier. By the SIM they do.
  const tier = async () => (await readTrust(withAdapters(), openDb(env), ana.id)).tier;
  for (const other of await makeVouchers([ana], 4)) expect(other.id).not.toBe(ana.id);
  await passDays(8, [ana]);
  expect(await readTrust(withAdapters(), openDb(env), ana.id)).toEqual({ tier: "confirmed", canVerify: true });
  await prove(ana);
  expect(await readOwnNumber(ana)).toMatchObject({ is_vouched: false, verified_at: expect.any(Number) });
  expect(await tier()).toBe("trusted");
});

test("a code is refused to whoever may not vouch, and means nothing to strangers", async () => {
  const ana = await makePerson();
  const [ben, cal, blocker, blocked, contested] = (await makeVouchers([ana], 5)) as Person[] as [
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  const [unverified, stranger, recent, late] = [
    await makePerson(),
    await makeVerified(),
    await makeVerified(),
    await makePerson(),
  ];
  for (const other of [unverified, late]) await connectPeople(site, ana, other);
  const everybody = [ana, ben, cal, blocker, blocked, contested, unverified, stranger, recent, late];
  await passDays(2, everybody);
  await connectPeople(site, ana, recent);
  await prove(late);
  await passDays(voucherDays - 1, everybody);
  await call("PUT", `/api/blocks/${ana.id}`, blocker);
  await call("PUT", `/api/blocks/${blocked.id}`, ana);
  await env.DB.prepare("UPDATE profiles SET contested_at = 1 WHERE id = ?").bind(contested.id).run();

  const token = await showCode(ana);
  const unknown = "A".repeat(22);
  const refusals: [by: Person, code: string][] = [
    [stranger, "vouching_not_found"],
    [blocker, "vouching_not_found"],
    [blocked, "vouching_not_found"],
    [recent, "voucher_contact_too_new"],
    [late, "voucher_number_too_new"],
    [unverified, "voucher_number_too_new"],
    [contested, "voucher_number_too_new"],
  ];
  for (const [by, code] of refusals) {
    expect(codeOf(await scan(by, token))).toBe(code);
    expect(codeOf(await confirm(by, token))).toBe(code);
  }
  expect(codeOf(await confirm(ana, token))).toBe("vouching_not_found"); // their own
  expect(await confirmed(ana)).toBe(0);
  // The same answer and work as for an unknown code.
  for (const run of [scan, confirm]) {
    const seen = [];
    for (const tried of [unknown, token, unknown, token]) {
      let answer: unknown;
      const work = await countDirectoryWork(async () => {
        const { status, body } = await run(stranger, tried);
        answer = [status, body];
      });
      seen.push({ answer, statements: work.statements, written: work.written });
    }
    expect(seen[3]).toEqual(seen[2]);
  }
  for (const by of [ben, cal]) expect((await confirm(by, token)).status).toBe(204);
  expect((await readOwnNumber(ana)).is_vouched).toBe(true);

  // Who was vouched for vouches for nobody: neither now nor after thirty days.
  const dan = await makePerson();
  await connectPeople(site, dan, ana);
  await connectPeople(site, dan, ben);
  await connectPeople(site, dan, cal);
  await passDays(voucherDays + 1, [ana, dan]);
  expect(codeOf(await confirm(ana, await showCode(dan)))).toBe("voucher_number_too_new");
});

test("a voucher counts once, and a code is of no use after its completion", async () => {
  const [ana, [ben, cal, dan]] = (await makeSubject(3)) as [Person, [Person, Person, Person]];
  const token = await showCode(ana);
  for (let n = 0; n < 3; n++) expect((await confirm(ben, token)).status).toBe(204);
  expect((await Promise.all([confirm(ben, token), confirm(ben, token)])).map(({ status }) => status)).toEqual([
    204, 204,
  ]);
  expect(await readOwnNumber(ana)).toMatchObject({ verified_at: null, vouching: { confirmed: 1 } });
  expect((await confirm(cal, token)).status).toBe(204);
  const { verified_at } = await readOwnNumber(ana);
  expect(verified_at).not.toBeNull();

  advanceFrozenClock(60);
  // An answer that was lost on the way is repeated; nobody else finds anything.
  expect((await confirm(cal, token)).status).toBe(204);
  expect(codeOf(await scan(cal, token))).toBe("vouching_not_found");
  expect(codeOf(await confirm(dan, token))).toBe("vouching_not_found");
  expect((await readOwnNumber(ana)).verified_at).toBe(verified_at);
  expect(codeOf(await requestProof(ana, "vouching"))).toBe("number_already_verified");
  const { results } = await env.DB.prepare("SELECT voucher_id FROM number_vouches").all();
  expect(results.filter(({ voucher_id }) => voucher_id === ben.id || voucher_id === cal.id)).toHaveLength(2);
});

test("the person reads their own code on each of their devices, as long as it is open, and nobody else does", async () => {
  const [ana, [ben, cal]] = (await makeSubject(2)) as [Person, [Person, Person]];
  const { id, expires_at, ask } = await startProof(ana, "vouching");
  if (ask.kind !== "vouching") throw new Error("no code");
  const token = ask.url.split("/app/v/")[1] ?? "";
  const tablet = { ...ana };
  await renew(tablet); // another session
  for (const device of [ana, tablet])
    expect(await scan(device, token)).toMatchObject({
      status: 200,
      body: { own: { id, expires_at, ask }, phone: ana.phone } satisfies OwnVouching,
    });
  expect((await scan(ben, token)).body).not.toHaveProperty("own");
  expect(codeOf(await scan(tablet, "A".repeat(22)))).toBe("vouching_not_found");
  expect(codeOf(await scan(await makePerson(), token))).toBe("vouching_not_found");
  const second = await showCode(tablet); // in place of the first
  expect(codeOf(await scan(ana, token))).toBe("vouching_not_found");
  expect((await scan(ana, second)).body).toHaveProperty("own");
  for (const by of [ben, cal]) expect((await confirm(by, second)).status).toBe(204);
  expect(codeOf(await scan(ana, second))).toBe("vouching_not_found");
});

test("a code ends with its session, after a day, and when its person shows another", async () => {
  const [ana, [ben, cal]] = (await makeSubject(2)) as [Person, [Person, Person]];
  const ended = await showCode(ana);
  await confirm(ben, ended);
  await call("POST", "/api/auth/logout?scope=global", ana);
  expect(codeOf(await confirm(cal, ended))).toBe("vouching_not_found");
  await renew(ana);
  expect(await readOwnNumber(ana)).toMatchObject({ verified_at: null, vouching: null });

  const replaced = await showCode(ana);
  await confirm(ben, replaced);
  const expired = await showCode(ana);
  expect(await confirmed(ana)).toBe(0);
  expect(codeOf(await confirm(cal, replaced))).toBe("vouching_not_found");
  await confirm(ben, expired);
  advanceFrozenClock(vouchingHours * 3_600);
  for (const person of [ana, ben, cal]) await renew(person);
  expect(codeOf(await confirm(cal, expired))).toBe("vouching_not_found");
  expect((await readOwnNumber(ana)).vouching).toBeNull();
  await purgeNumberProofs(openDb(env), Date.now(), 100);
  expect(codeOf(await confirm(cal, expired))).toBe("vouching_not_found");
});

test("two second vouchers at the same moment verify the number once", async () => {
  const [ana, [ben, cal, dan]] = (await makeSubject(3)) as [Person, [Person, Person, Person]];
  const token = await showCode(ana);
  await confirm(ben, token);
  const answers = await Promise.all([cal, dan].map((by) => confirm(by, token)));
  for (const answer of answers) expect([204, 404]).toContain(answer.status);
  expect(answers.some(({ status }) => status === 204)).toBe(true);
  expect((await readOwnNumber(ana)).is_vouched).toBe(true);
  const { results } = await env.DB.prepare("SELECT id FROM number_proofs WHERE user_id = ?").bind(ana.id).all();
  expect(results).toEqual([]);
});

test("nobody vouches for more than five numbers in a month, not even at the same moment; so a ring grows slowly", async () => {
  const subjects: Person[] = [];
  for (let n = 0; n <= vouchesMax; n++) subjects.push(await makePerson());
  const ring = await makeVouchers(subjects, 2);
  await passDays(voucherDays + 1, [...subjects, ...ring]);
  const tokens: string[] = [];
  for (const subject of subjects) tokens.push(await showCode(subject));

  const [first] = ring as [Person];
  const atOnce = await Promise.all(tokens.map((token) => confirm(first, token)));
  expect(atOnce.filter(({ status }) => status === 204)).toHaveLength(vouchesMax);
  expect(atOnce.filter(({ status }) => status !== 204).map(codeOf)).toEqual(["vouches_used_up"]);
  const rest = tokens.filter((_, n) => atOnce[n]?.status !== 204);
  for (const run of [scan, confirm]) expect(codeOf(await run(first, rest[0] ?? ""))).toBe("vouches_used_up");
  for (const token of tokens) for (const by of ring) await confirm(by, token);
  const count = async () => {
    const states = await Promise.all(subjects.map((person) => readOwnNumber(person)));
    return states.filter(({ is_vouched }) => is_vouched).length;
  };
  expect(await count()).toBeLessThanOrEqual((ring.length * vouchesMax) / 2);
  expect(await count()).toBeGreaterThan(0);

  // A deleted proof or account gives nothing back; a month does.
  await env.DB.prepare("DELETE FROM number_proofs").run();
  const [open] = subjects.filter((_, n) => tokens[n] === rest[0]) as [Person];
  expect(codeOf(await confirm(first, await showCode(open)))).toBe("vouches_used_up");
  await passDays(voucherDays, [open, first]);
  await purgeNumberProofs(openDb(env), Date.now(), 1_000);
  expect((await confirm(first, await showCode(open))).status).toBe(204);
});

test("a first confirmation no longer counts if its giver is no contact, blocks or loses the number before the second", async () => {
  const ends = [
    (by: Person, of: Person) => call("DELETE", `/api/contacts/${of.id}`, by),
    (by: Person, of: Person) => call("PUT", `/api/blocks/${of.id}`, by),
    (by: Person) => env.DB.prepare("UPDATE profiles SET verified_at = NULL WHERE id = ?").bind(by.id).run(),
  ];
  for (const end of ends) {
    const [ana, [ben, cal, dan]] = (await makeSubject(3)) as [Person, [Person, Person, Person]];
    const token = await showCode(ana);
    await confirm(ben, token);
    await end(ben, ana);
    expect((await confirm(cal, token)).status).toBe(204);
    // What is shown does not tell who withdrew.
    expect(await readOwnNumber(ana)).toMatchObject({ verified_at: null, vouching: { confirmed: 1 } });
    expect((await confirm(dan, token)).status).toBe(204);
    expect((await readOwnNumber(ana)).is_vouched).toBe(true);
  }
});

/** Registers with a number that somebody has, where numbers can be verified. */
const registerClaim = async (phone: string): Promise<Person> => {
  const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
  const body = {
    phone,
    password: "Mokonzi2026",
    data: { username: "Deuxième" },
    gotrue_meta_security: { captcha_token },
  };
  const answer = await callWith(withAdapters(), "POST", "/api/auth/signup", { body });
  const { user, access_token: token } = answer.body as { user: { id: string }; access_token: string };
  return { id: user.id, phone, password: body.password, username: "Deuxième", token, refreshToken: "" };
};

test("a number taken over between the two confirmations stays with whoever proved it", async () => {
  const [ana, [ben, cal]] = (await makeSubject(2)) as [Person, [Person, Person]];
  const token = await showCode(ana);
  await confirm(ben, token);
  const owner = await registerClaim(ana.phone);
  await prove(owner);
  expect(codeOf(await scan(cal, token))).toBe("vouching_not_found");
  expect(codeOf(await confirm(cal, token))).toBe("vouching_not_found");
  expect(await readOwnNumber(ana)).toMatchObject({ phone: "", verified_at: null });
  expect(await readOwnNumber(owner)).toMatchObject({ phone: ana.phone, is_vouched: false });
  // Without a number, or for a new one, contacts have nothing to confirm.
  expect((await readOwnNumber(ana)).methods).not.toContain("vouching");
  expect(codeOf(await requestProof(ana, "vouching"))).toBe("number_method_unavailable");
  const phone = phoneOf(takePersonNumber());
  expect(codeOf(await call("POST", "/api/number/proofs", ana, { method: "vouching", phone }))).toBe(
    "number_method_unavailable",
  );
});

test("contacts cannot take a number from anybody who uses the account or has verified it, and their word yields to a SIM", async () => {
  const vouchFor = async (claimant: Person, vouchers: Person[]) => {
    const token = await showCode(claimant);
    for (const by of vouchers) expect((await confirm(by, token)).status).toBe(204);
    return readOwnNumber(claimant);
  };
  const [verified, used, unused] = [await makeVerified(), await makePerson(), await makePerson()];
  const claimants: Person[] = [];
  for (const { phone } of [verified, used, unused]) claimants.push(await registerClaim(phone));
  const vouchers = await makeVouchers(claimants, 2);
  await passDays(numberUnusedDays + 1, [used, ...claimants, ...vouchers]);
  const [ofVerified, ofUsed, ofUnused] = claimants as [Person, Person, Person];

  // Nobody is asked to verify the number again, however long the account has been idle.
  for (const claimant of [ofVerified, ofUsed])
    expect(await vouchFor(claimant, vouchers)).toMatchObject({
      refused_method: "vouching",
      verified_at: null,
      is_vouched: false,
    });
  await passDays(1, [verified, used, ofUnused, ...vouchers]);
  expect(await readOwnNumber(verified)).toMatchObject({ phone: verified.phone, contested_until: null });
  expect((await readOwnNumber(verified)).verified_at).not.toBeNull();
  expect(await readOwnNumber(used)).toMatchObject({ phone: used.phone, contested_until: null });
  const { notices } = await request(used, { type: "changes", since: 0 });
  expect(notices).toEqual([]);

  expect(await vouchFor(ofUnused, vouchers)).toMatchObject({ phone: unused.phone, is_vouched: true });
  await renew(unused);
  expect(await readOwnNumber(unused)).toMatchObject({ phone: "", handle: expect.any(String) });

  // The SIM decides at once, without waiting for a holder who uses the account.
  const owner = await registerClaim(unused.phone);
  await prove(owner);
  expect(await readOwnNumber(owner)).toMatchObject({ phone: unused.phone, refused_method: null, is_vouched: false });
  expect(await readOwnNumber(ofUnused)).toMatchObject({ phone: "", is_vouched: false });
});

test("vouching changes neither registration nor tiers where the operator lets nobody verify", async () => {
  const none = withAdapters([]);
  const [ana, [ben, cal]] = (await makeSubject(2)) as [Person, [Person, Person]];
  const trust = () => readTrust(none, openDb(env), ana.id);
  const before = await trust();
  expect((await readOwnNumber(ana, none)).methods).toEqual(["vouching"]);
  const token = await showCode(ana);
  for (const by of [ben, cal]) await confirm(by, token);
  expect((await readOwnNumber(ana, none)).is_vouched).toBe(true);
  expect(await trust()).toEqual(before);
  const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: ana.phone });
  const body = {
    phone: ana.phone,
    password: "Mokonzi2026",
    data: { username: "Eve" },
    gotrue_meta_security: { captcha_token },
  };
  expect(codeOf(await callWith(none, "POST", "/api/auth/signup", { body }))).toBe("phone_exists");
  // Nobody who has too few contacts is offered it.
  const dan = await makePerson();
  await connectPeople(site, dan, ben);
  expect((await readOwnNumber(dan, none)).methods).toEqual([]);
});
