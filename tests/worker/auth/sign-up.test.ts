import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { proofValidMs } from "#contract/limits/authentication.ts";
import {
  makeCaptchaToken,
  phoneOf,
  makePerson as signUpPerson,
  solveForToken,
  testPassword,
} from "#tests/support/people/people.ts";
import { call, cookieSite, makePerson, site } from "#tests/worker/support/site.ts";
import { createProofChallenge } from "#worker/auth/proof-of-work.ts";

/** Proof of work for signing up with this number. */
const workFor = (phone: string) => makeCaptchaToken(site, { action: "sign_up", subject: phone });

const signUp = (phone: string, captcha_token?: string, rest: object = {}) =>
  call("POST", "/api/auth/signup", {
    body: { phone, password: testPassword, gotrue_meta_security: { captcha_token }, ...rest },
  });

test("a person who signed up is signed in, with the session as the public GoTrue API shapes it", async () => {
  const before = Math.floor(Date.now() / 1_000);
  const { status, body } = await signUp(phoneOf(900), await workFor(phoneOf(900)), {
    data: { username: "  Ana   Mbo " },
  });
  expect(status).toBe(200);
  const session = body as Session;
  expect(session).toMatchObject({
    token_type: "bearer",
    expires_in: 600,
    user: {
      aud: "authenticated",
      role: "authenticated",
      phone: phoneOf(900),
      user_metadata: { username: "Ana Mbo" },
      app_metadata: { provider: "phone" },
    },
  });
  expect(session.expires_at - before).toBeGreaterThanOrEqual(600);
  const me = await call("GET", "/api/auth/user", { token: session.access_token });
  expect(me).toMatchObject({ status: 200, body: session.user });
});

test("a person without a name yet is not called by the number", async () => {
  const { body } = await signUp(phoneOf(901), await workFor(phoneOf(901)));
  expect(body).toMatchObject({ user: { user_metadata: { username: "Utilisateur" } } });
});

test("a number is taken however it is written", async () => {
  const person = await makePerson();
  const digits = person.phone.slice(1);
  const spellings = [person.phone, digits, `00${digits}`, `+243 81 000 ${digits.slice(-4)}`, `＋${digits}`];
  for (const phone of spellings) {
    const { status, body } = await signUp(phone, await workFor(person.phone));
    expect({ phone, status, body }).toMatchObject({
      status: 422,
      body: { code: 422, error_code: "phone_exists", msg: "User already registered" },
    });
  }
});

test("of ten sign-ups with one number at once, one makes the account", async () => {
  const tokens = await Promise.all(Array.from({ length: 10 }, () => workFor(phoneOf(902))));
  const answers = await Promise.all(tokens.map((token) => signUp(phoneOf(902), token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 422)]);
  const { count } = (await env.DB.prepare("SELECT count(*) AS count FROM users WHERE phone = ?")
    .bind(phoneOf(902))
    .first<{ count: number }>()) ?? { count: -1 };
  expect(count).toBe(1);
});

test("the password is stored as scrypt with its parameters, a salt of its own and nothing to read", async () => {
  const [ana, ben] = [await signUpPerson(site, 940), await signUpPerson(site, 941)];
  const hashes = await env.DB.prepare("SELECT password_hash FROM users WHERE id IN (?, ?)")
    .bind(ana.id, ben.id)
    .all<{ password_hash: string }>();
  const [one, two] = hashes.results.map((row) => row.password_hash);
  for (const hash of [one, two])
    expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(two);
});

test.each([
  ["five characters", "Aa1bc", "weak_password", 422],
  ["no upper-case letter", "masolo2026", "weak_password", 422],
  ["no digit", "MasoloMasolo", "weak_password", 422],
  ["129 characters", `A1${"a".repeat(127)}`, "weak_password", 422],
  ["no text", 123456, "validation_failed", 400],
])("a password with %s is refused", async (_, password, error_code, status) => {
  const answer = await signUp(phoneOf(903), await workFor(phoneOf(903)), { password });
  expect(answer).toMatchObject({ status, body: { error_code } });
});

test.each(["Azerty1", "Aaaaa1", "Password1", "P@ssw0rd1", "Motdepasse2026!", "Été2026", "A123456", "Kinshasa243"])(
  "the password %s, which anybody tries first, is refused with that reason",
  async (password) => {
    const work = await workFor(phoneOf(903));
    const answer = await signUp(phoneOf(903), work, { password });
    expect(answer).toMatchObject({ status: 422, body: { error_code: "common_password" } });
    const person = await makePerson();
    const change = await call("PUT", "/api/auth/user", { token: person.token, body: { password } });
    expect(change).toMatchObject({ status: 422, body: { error_code: "common_password" } });
  },
);

test.each([["a bogus identity", { auth_code: "none", code_verifier: "x".repeat(43) }]])(
  "%s is refused alike for a number that has an account and for one that has none",
  async (_, identity) => {
    const person = await makePerson();
    const answers = [];
    for (const phone of [person.phone, phoneOf(903)]) {
      const { status, body } = await signUp(phone, await workFor(phone), { identity });
      answers.push({ status, body });
    }
    expect(answers[0]).toMatchObject({ status: 404, body: { error_code: "flow_state_not_found" } });
    expect(answers[1]).toEqual(answers[0]);
  },
);

test("a long password with spaces and any script works exactly as typed", async () => {
  const password = ` Mot de passe très long 漢字 🙂 ${"x1".repeat(40)} `;
  expect(await signUp(phoneOf(904), await workFor(phoneOf(904)), { password })).toMatchObject({ status: 200 });
  const signIn = (typed: string) =>
    call("POST", "/api/auth/token?grant_type=password", { body: { phone: phoneOf(904), password: typed } });
  expect(await signIn(password)).toMatchObject({ status: 200 });
  expect(await signIn(password.trim())).toMatchObject({ status: 400, body: { error_code: "invalid_credentials" } });
});

test.each(["", "12345", "+1234567890123456", "abc", "0".repeat(10), "243' OR 1=1 --", "+243\u00008100"])(
  "%j is no valid phone number",
  async (phone) => {
    const answer = await signUp(phone, await workFor(phoneOf(900)));
    expect(answer).toMatchObject({ status: 400, body: { error_code: "validation_failed" } });
  },
);

test.each([
  ["script in brackets is only text", "<script>alert(1)</script>", 200],
  ["a right-to-left override", "Ana\u202Egnp.exe", 400],
  ["a zero-width space", "A\u200Bna", 400],
  ["a control character", "Ana\u0007", 400],
  ["nothing but spaces", "   ", 400],
  ["51 characters", "x".repeat(51), 400],
])("a name with %s", async (_, username, status) => {
  const n = 910 + status + username.length;
  const answer = await signUp(phoneOf(n), await workFor(phoneOf(n)), { data: { username } });
  expect(answer.status).toBe(status);
  if (status === 400) expect(answer.body).toMatchObject({ error_code: "invalid_name" });
});

test("signing up requires a valid, unused proof of work", async () => {
  const refused = { status: 400, body: { error_code: "captcha_failed" } };
  expect(await signUp(phoneOf(905))).toMatchObject(refused);
  for (const token of ["", "x", btoa("{}"), btoa("null"), btoa('{"challenge":{},"solution":{}}')]) {
    expect(await signUp(phoneOf(905), token)).toMatchObject(refused);
  }
  const token = await workFor(phoneOf(905));
  const spoilt = JSON.parse(atob(token));
  spoilt.challenge.parameters.expiresAt += 60;
  expect(await signUp(phoneOf(905), btoa(JSON.stringify(spoilt)))).toMatchObject(refused);
  const guessed = JSON.parse(atob(token));
  guessed.solution.derivedKey = "00".repeat(32);
  expect(await signUp(phoneOf(905), btoa(JSON.stringify(guessed)))).toMatchObject(refused);

  expect(await signUp(phoneOf(905), token)).toMatchObject({ status: 200 });
  await env.DB.prepare("DELETE FROM users WHERE phone = ?").bind(phoneOf(905)).run();
  expect(await signUp(phoneOf(905), token)).toMatchObject(refused);
});

test("a proof of work is valid for its number and action only", async () => {
  const refused = { status: 400, body: { error_code: "captcha_failed" } };
  const work = await workFor(phoneOf(906));
  expect(await signUp(phoneOf(907), work)).toMatchObject(refused);
  const recovery = await makeCaptchaToken(site, { action: "recover_by_code", subject: phoneOf(906) });
  expect(await signUp(phoneOf(906), recovery)).toMatchObject(refused);
  const body = { phone: phoneOf(906), code: "x", gotrue_meta_security: { captcha_token: work } };
  expect(await call("POST", "/api/auth/recover/code", { body })).toMatchObject(refused);
  // The notation of the number when the work began does not matter.
  expect(await signUp(`00${phoneOf(906).slice(1)}`, work)).toMatchObject({ status: 200 });
});

test("a proof of work is invalid after ten minutes", async () => {
  const purpose = { action: "sign_up", subject: phoneOf(907) } as const;
  const old = await createProofChallenge(env.ALTCHA_HMAC_KEY, purpose, { now: Date.now() - proofValidMs - 1_000 });
  expect(await signUp(phoneOf(907), await solveForToken(old))).toMatchObject({
    status: 400,
    body: { error_code: "captcha_failed" },
  });
});

test("a proof of work used ten times at once is accepted once", async () => {
  const token = await workFor(phoneOf(920));
  const answers = await Promise.all(Array.from({ length: 10 }, () => signUp(phoneOf(920), token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
});

test("fields that callers must not set are ignored", async () => {
  const { body } = await signUp(phoneOf(908), await workFor(phoneOf(908)), {
    id: "00000000-0000-7000-8000-000000000000",
    role: "service_role",
    created_at: "1999-01-01",
    data: { username: "Ana", role: "admin", avatar_url: "x" },
  });
  const { user } = body as Session;
  expect(user.id).not.toBe("00000000-0000-7000-8000-000000000000");
  expect(user.role).toBe("authenticated");
  expect(user.user_metadata).toEqual({ username: "Ana" });
});

test("the browser app gets its tokens in cookies unreadable to scripts, and none in the body", async () => {
  const answer = await call("POST", "/api/auth/signup", {
    headers: cookieSite,
    body: {
      phone: phoneOf(909),
      password: testPassword,
      gotrue_meta_security: { captcha_token: await workFor(phoneOf(909)) },
    },
  });
  expect(answer).toMatchObject({ status: 200, body: { access_token: "", refresh_token: "" } });
  const [device, access, refresh, ...more] = answer.headers.getSetCookie();
  expect(device).toMatch(
    /^__Host-lisolo-device=[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  expect(more).toEqual([]);
  expect(access).toMatch(
    /^__Host-lisolo-at=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  expect(refresh).toMatch(/^__Host-lisolo-rt=[\w-]{70}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
});
