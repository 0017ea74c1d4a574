import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Ceremony, Passkey } from "#contract/auth/factors.ts";
import type { Security } from "#contract/auth/security.ts";
import { createUuid } from "#contract/ids.ts";
import { ceremonySeconds, passkeysMax } from "#contract/limits/authentication.ts";
import {
  type Authenticator,
  flags,
  type KeyKind,
  makeAuthenticator,
  type Tweak,
} from "#tests/support/browser/authenticator.ts";
import type { Person } from "#tests/support/people/people.ts";
import { request, waitUntil } from "#tests/worker/support/device.ts";
import { call, makePerson, refillBuckets, site } from "#tests/worker/support/site.ts";

type Bearer = { token: string };
type Options = Parameters<Authenticator["create"]>[0];

const pose = async (path: string, by?: Bearer): Promise<{ ceremony: string; options: Options }> => {
  const { status, body } = await call("POST", `/api/auth/passkeys/${path}/options`, { token: by?.token });
  expect(status, JSON.stringify(body)).toBe(200);
  const { ceremony, options } = body as Ceremony;
  return { ceremony, options: options as Options };
};

const register = async (by: Bearer, authenticator: Authenticator, tweak: Tweak = {}, more: object = {}) => {
  const { ceremony, options } = await pose("registration", by);
  const body = { ceremony, response: await authenticator.create(options, tweak), ...more };
  return call("POST", "/api/auth/passkeys", { token: by.token, body });
};

/** Person with one passkey, and its authenticator. */
const withPasskey = async (...made: Parameters<typeof makeAuthenticator> | []) => {
  const person = await makePerson();
  const authenticator = await makeAuthenticator(made[0] ?? site.origin, made[1]);
  const { status, body } = await register(person, authenticator);
  expect(status, JSON.stringify(body)).toBe(200);
  return { person, authenticator, passkey: body as Passkey };
};

const signIn = async (authenticator: Authenticator, tweak: Tweak = {}) => {
  const { ceremony, options } = await pose("sign-in");
  const body = { ceremony, response: await authenticator.get(options, tweak) };
  return { body, answer: await call("POST", "/api/auth/passkeys/sign-in", { body }) };
};
const step = async (by: Bearer, authenticator: Authenticator, tweak: Tweak = {}) => {
  const { ceremony, options } = await pose("step", by);
  const body = { ceremony, response: await authenticator.get(options, tweak) };
  return call("POST", "/api/auth/passkeys/step", { token: by.token, body });
};
const wantStep = (by: Bearer, second_step: boolean) =>
  call("PUT", "/api/auth/passkeys/second-step", { token: by.token, body: { second_step } });
const remove = (by: Bearer, { id }: Passkey) => call("DELETE", `/api/auth/passkeys/${id}`, { token: by.token });

const securityOf = async ({ token }: Bearer): Promise<Security> =>
  (await call("GET", "/api/auth/security", { token })).body as Security;
const byPassword = async ({ phone, password }: Person): Promise<Session> =>
  (await call("POST", "/api/auth/token?grant_type=password", { body: { phone, password } })).body as Session;
const userOf = (token: string) => call("GET", "/api/auth/user", { token });
/** Makes the last proof of a factor old. */
const forgetProofs = ({ id }: Person) =>
  env.DB.prepare("UPDATE sessions SET proved_at = 0 WHERE user_id = ?").bind(id).run();

// All tests use one address.
beforeEach(async () => {
  await refillBuckets("passkey_by_address");
});

const refused = { status: 400, body: { error_code: "passkey_refused" } };
const proofNeeded = { status: 403, body: { error_code: "reauthentication_needed" } };

test.each<KeyKind>(["ES256", "EdDSA", "RS256"])("a passkey with a %s key signs in without a password", async (kind) => {
  const { person, authenticator } = await withPasskey(site.origin, { kind });
  const { answer } = await signIn(authenticator);
  expect(answer.status).toBe(200);
  const session = answer.body as Session;
  expect(session.awaits).toBeUndefined();
  expect(session.user.id).toBe(person.id);
  const claims = JSON.parse(atob(session.access_token.split(".")[1] ?? "")) as Record<string, unknown>;
  expect(claims).toMatchObject({ aal: "aal2", amr: [{ method: "passkey" }] });
  expect((await call("GET", "/api/contacts", { token: session.access_token })).status).toBe(200);
});

test("a browser is asked for a user-verifying passkey, and gets no more data than needed", async () => {
  const { person, authenticator } = await withPasskey();
  const { options } = await pose("registration", person);
  expect(options).toMatchObject({
    rp: { name: "Lisolo", id: "lisolo.test" },
    user: { name: person.phone, displayName: person.username },
    attestation: "none",
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: "public-key", alg })),
    excludeCredentials: [{ id: authenticator.id, transports: ["hybrid", "internal"] }],
  });
  const handle = Buffer.from(options.user?.id ?? "", "base64url");
  expect(handle).toHaveLength(32);
  expect(handle.toString("latin1")).not.toContain(person.id);
  expect((await pose("registration", person)).options.user?.id).toBe(options.user?.id);

  const { options: open } = await pose("sign-in");
  expect(Buffer.from(open.challenge, "base64url")).toHaveLength(32);
  expect(open).toMatchObject({ rpId: "lisolo.test", userVerification: "required" });
  expect(open).not.toHaveProperty("allowCredentials");
});

test("a passkey is listed by name, renamed only by its owner, and gone once removed", async () => {
  const person = await makePerson();
  const [authenticator, synced] = [
    await makeAuthenticator(site.origin),
    await makeAuthenticator(site.origin, { counts: false, isSynced: true }),
  ];
  const named = (await register(person, authenticator, {}, { name: "  Mon téléphone " })).body as Passkey;
  const unnamed = (await register(person, synced)).body as Passkey;
  expect(named).toMatchObject({ name: "Mon téléphone", synced: false, used_at: null });
  expect(unnamed).toMatchObject({ synced: true });
  expect(unnamed.name).not.toBe("");

  const other = await makePerson();
  const path = `/api/auth/passkeys/${named.id}`;
  const notFound = { status: 404, body: { error_code: "passkey_not_found" } };
  expect(await call("PATCH", path, { token: other.token, body: { name: "À moi" } })).toMatchObject(notFound);
  expect(await remove(other, named)).toMatchObject(notFound);
  expect(await call("PATCH", path, { token: person.token, body: { name: "Tecno" } })).toMatchObject({
    status: 200,
    body: { id: named.id, name: "Tecno" },
  });
  expect(await call("PATCH", path, { token: person.token, body: { name: " " } })).toMatchObject({ status: 400 });
  expect((await securityOf(person)).passkeys.map(({ name }) => name)).toEqual(["Tecno", unnamed.name]);

  expect((await signIn(authenticator)).answer.status).toBe(200);
  expect((await securityOf(person)).passkeys[0]?.used_at).toBeGreaterThan(0);
  expect((await remove(person, named)).status).toBe(204);
  expect(await remove(person, named)).toMatchObject(notFound);
  expect((await signIn(authenticator)).answer).toMatchObject(refused);
  expect((await signIn(synced)).answer.status).toBe(200);
});

const lies: [string, Tweak][] = [
  ["for another origin", { origin: "https://lisolo.test.example" }],
  ["for our origin without encryption", { origin: "http://lisolo.test" }],
  ["for our origin on another port", { origin: "https://lisolo.test:8443" }],
  ["for another site", { rpId: "example.test" }],
  ["for the domain above ours", { rpId: "test" }],
  ["to another question", { challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
  ["to a question of the other kind", { type: "webauthn.other" }],
  ["by a device that did not verify its person", { flags: flags.present }],
  ["by a device at which nobody was", { flags: flags.verified }],
];

test.each(lies)("a passkey made %s is not added", async (_, tweak) => {
  const person = await makePerson();
  const signedTweak = tweak.flags === undefined ? tweak : { flags: tweak.flags | flags.attested };
  expect(await register(person, await makeAuthenticator(site.origin), signedTweak)).toMatchObject(refused);
  expect((await securityOf(person)).passkeys).toEqual([]);
});

test.each<[string, Tweak]>([
  ...lies,
  ["signed by another key", { isForged: true }],
  ["meant for somebody else", { userHandle: Buffer.alloc(32, 7).toString("base64url") }],
  ["meant for nobody", { userHandle: undefined }],
])("an answer %s signs nobody in, and does not count as a second factor", async (_, tweak) => {
  const { person, authenticator } = await withPasskey();
  expect((await signIn(authenticator, tweak)).answer).toMatchObject(refused);
  // For its own person's passkeys a device need not return the user handle.
  const isStep = "userHandle" in tweak && tweak.userHandle === undefined;
  expect((await step(person, authenticator, tweak)).status).toBe(isStep ? 200 : 400);
  expect((await signIn(authenticator)).answer.status).toBe(200);
});

test("an answer is accepted once", async () => {
  const { person, authenticator } = await withPasskey(site.origin, { counts: false });
  const { body, answer } = await signIn(authenticator);
  expect(answer.status).toBe(200);
  expect(await call("POST", "/api/auth/passkeys/sign-in", { body })).toMatchObject(refused);

  const { ceremony, options } = await pose("sign-in");
  const again = { ceremony, response: await authenticator.get(options) };
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => call("POST", "/api/auth/passkeys/sign-in", { body: again })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);

  const made = await pose("registration", person);
  const response = await (await makeAuthenticator(site.origin)).create(made.options);
  const add = () => call("POST", "/api/auth/passkeys", { token: person.token, body: { ...made, response } });
  expect((await add()).status).toBe(200);
  expect(await add()).toMatchObject(refused);
});

test("a wrong answer uses up the challenge", async () => {
  const { authenticator } = await withPasskey();
  const { ceremony, options } = await pose("sign-in");
  for (const tweak of [{ isForged: true }, {}]) {
    const body = { ceremony, response: await authenticator.get(options, tweak) };
    expect(await call("POST", "/api/auth/passkeys/sign-in", { body })).toMatchObject(refused);
  }
});

test("a challenge is valid for five minutes, for its purpose, person and session", async () => {
  const { person, authenticator } = await withPasskey();
  const late = await pose("sign-in");
  const passed = ceremonySeconds * 1_000 + 1;
  await env.DB.prepare("UPDATE ceremonies SET expires_at = expires_at - ? WHERE id = ?")
    .bind(passed, late.ceremony)
    .run();
  const toSignIn = async ({ ceremony, options }: typeof late) =>
    call("POST", "/api/auth/passkeys/sign-in", { body: { ceremony, response: await authenticator.get(options) } });
  expect(await toSignIn(late)).toMatchObject(refused);
  expect(await toSignIn(await pose("step", person))).toMatchObject(refused);
  expect(await toSignIn({ ...(await pose("sign-in")), ceremony: createUuid() })).toMatchObject(refused);

  const toStep = async (by: Bearer, { ceremony, options }: typeof late) =>
    call("POST", "/api/auth/passkeys/step", {
      token: by.token,
      body: { ceremony, response: await authenticator.get(options) },
    });
  expect(await toStep(person, await pose("sign-in"))).toMatchObject(refused);
  const otherSession = { token: (await byPassword(person)).access_token };
  expect(await toStep(otherSession, await pose("step", person))).toMatchObject(refused);

  const add = async (by: Bearer, { ceremony, options }: typeof late) => {
    const response = await (await makeAuthenticator(site.origin)).create(options);
    return call("POST", "/api/auth/passkeys", { token: by.token, body: { ceremony, response } });
  };
  const stranger = await makePerson();
  expect(await add(stranger, await pose("registration", person))).toMatchObject(refused);
  expect(await add(otherSession, await pose("registration", person))).toMatchObject(refused);
  expect(await add(person, await pose("step", person))).toMatchObject(refused);
});

test("another person's passkey is not accepted as a second factor", async () => {
  const [{ person }, other] = [await withPasskey(), await withPasskey()];
  await forgetProofs(person);
  const handle = (await pose("registration", other.person)).options.user?.id;
  for (const userHandle of [undefined, handle]) {
    expect(await step(person, other.authenticator, { userHandle })).toMatchObject(refused);
  }
  expect(await wantStep(person, true)).toMatchObject(proofNeeded);
});

test("a registered passkey cannot be added to another account", async () => {
  const [{ authenticator }, other] = [await withPasskey(), await makePerson()];
  expect(await register(other, authenticator)).toMatchObject(refused);
  expect((await signIn(authenticator, {})).answer).toMatchObject(refused); // it used the other's handle
});

test("a signature counter that does not increase reveals a copy, and the passkey remains", async () => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { person, authenticator } = await withPasskey();
  expect((await signIn(authenticator, { counter: 7 })).answer.status).toBe(200);
  for (const counter of [7, 6, 1, 0]) {
    expect((await signIn(authenticator, { counter })).answer).toMatchObject(refused);
    expect(await step(person, authenticator, { counter })).toMatchObject(refused);
  }
  // Objects of other tests may log errors too.
  expect(warned.mock.calls.filter(([line]) => String(line).includes("passkey"))).toEqual(
    Array.from({ length: 8 }, () => ["a passkey's signature counter did not grow: it may have been copied"]),
  );
  warned.mockRestore();
  expect((await securityOf(person)).passkeys).toHaveLength(1);
  expect((await signIn(authenticator, { counter: 8 })).answer.status).toBe(200);
});

test("a passkey without a counter can be used repeatedly", async () => {
  const { authenticator } = await withPasskey(site.origin, { counts: false, isSynced: true });
  for (let n = 0; n < 3; n++) expect((await signIn(authenticator)).answer.status).toBe(200);
});

test("an unknown passkey, a removed one and a forged answer are answered alike, each after one check of a signature", async () => {
  const [{ authenticator }, removed] = [await withPasskey(), await withPasskey()];
  expect((await remove(removed.person, removed.passkey)).status).toBe(204);
  const stranger = await makeAuthenticator(site.origin);
  const verify = vi.spyOn(crypto.subtle, "verify");
  const ask = async (by: Authenticator, tweak: Tweak = {}) => {
    const { ceremony, options } = await pose("sign-in");
    const body = { ceremony, response: await by.get(options, { userHandle: "AAAA", ...tweak }) };
    const before = verify.mock.calls.length;
    const { status, body: said } = await call("POST", "/api/auth/passkeys/sign-in", { body });
    return { status, said, signaturesChecked: verify.mock.calls.length - before };
  };
  const unknown = await ask(stranger);
  expect(unknown).toMatchObject({ signaturesChecked: 1 });
  expect(await ask(removed.authenticator)).toEqual(unknown);
  expect(await ask(authenticator, { isForged: true })).toEqual(unknown);
});

test("a passkey is required after the password if its owner chose so, and no longer once the last is removed", async () => {
  const { person, authenticator, passkey } = await withPasskey();
  expect((await byPassword(person)).awaits).toBeUndefined();
  expect(await wantStep(person, true)).toMatchObject({ status: 200, body: { second_step: true } });

  const owing = await byPassword(person);
  expect(owing.awaits).toEqual(["passkey"]);
  expect(await call("GET", "/api/contacts", { token: owing.access_token })).toMatchObject({
    status: 401,
    body: { error_code: "insufficient_aal" },
  });
  const { options } = await pose("step", { token: owing.access_token });
  expect(options).toMatchObject({ allowCredentials: [{ id: authenticator.id }] });
  const whole = await step({ token: owing.access_token }, authenticator);
  expect(whole.status).toBe(200);
  const { access_token, awaits } = whole.body as Session;
  expect(awaits).toBeUndefined();
  expect((await call("GET", "/api/contacts", { token: access_token })).status).toBe(200);
  expect((await userOf(owing.access_token)).status).toBe(401);
  expect((await signIn(authenticator)).answer.body).not.toHaveProperty("awaits");

  expect((await remove(person, passkey)).status).toBe(204);
  expect(await securityOf(person)).toMatchObject({ passkey_second_step: false, passkeys: [] });
  expect((await byPassword(person)).awaits).toBeUndefined();
  expect(await wantStep(person, true)).toMatchObject({ status: 404, body: { error_code: "passkey_not_found" } });
});

test("changing sign-in methods needs a fresh proof, and a passkey is one", async () => {
  const { person, authenticator, passkey } = await withPasskey();
  const begun = await pose("registration", person);
  await forgetProofs(person);
  const { token } = person;
  expect(await call("POST", "/api/auth/passkeys/registration/options", { token })).toMatchObject(proofNeeded);
  expect(await remove(person, passkey)).toMatchObject(proofNeeded);
  expect(await wantStep(person, true)).toMatchObject(proofNeeded);
  const path = `/api/auth/passkeys/${passkey.id}`;
  expect((await call("PATCH", path, { token, body: { name: "Tecno" } })).status).toBe(200);

  // Once a valid challenge was issued, the user may take their time with the browser's dialog.
  const response = await (await makeAuthenticator(site.origin)).create(begun.options);
  expect((await call("POST", "/api/auth/passkeys", { token, body: { ...begun, response } })).status).toBe(200);

  const proved = await step(person, authenticator);
  expect(await wantStep(person, true)).toMatchObject(proofNeeded); // with an earlier token
  expect((await wantStep({ token: (proved.body as Session).access_token }, true)).status).toBe(200);
});

test("the other devices are notified of an added and a removed passkey", async () => {
  const person = await makePerson();
  const other = { ...person, token: (await byPassword(person)).access_token };
  const passkey = (await register(person, await makeAuthenticator(site.origin))).body as Passkey;
  const readNotices = async () =>
    (await request(other, { type: "changes", since: 0 })).notices.map(({ event }) => event);
  await waitUntil(async () => (await readNotices()).length === 1);
  expect((await remove(person, passkey)).status).toBe(204);
  await waitUntil(async () => (await readNotices()).length === 2);
  expect(await readNotices()).toEqual(["passkey_added", "passkey_removed"]);
});

test("the other devices are notified when passkeys become required after the password, and when no longer, each time once", async () => {
  const { person } = await withPasskey();
  const other = { ...person, token: (await byPassword(person)).access_token };
  const readNotices = async () =>
    (await request(other, { type: "changes", since: 0 })).notices.map(({ event }) => event);
  for (const isWanted of [false, true, true, false, false]) {
    expect(await wantStep(person, isWanted)).toMatchObject({ status: 200, body: { second_step: isWanted } });
  }
  await waitUntil(async () => (await readNotices()).includes("passkey_step_off"));
  expect(await readNotices()).toEqual(["passkey_step_on", "passkey_step_off"]);
});

test("the number of passkeys of a person is limited", async () => {
  const { person } = await withPasskey();
  const last = await pose("registration", person);
  const row =
    "INSERT INTO passkeys SELECT ?1, ?1, user_id, '', 0, '', 0, 'x', 1, NULL FROM passkeys WHERE user_id = ?2 LIMIT 1";
  for (let n = 1; n < passkeysMax; n++) await env.DB.prepare(row).bind(createUuid(), person.id).run();
  const tooMany = { status: 422, body: { error_code: "too_many_passkeys" } };
  const response = await (await makeAuthenticator(site.origin)).create(last.options);
  const body = { ...last, response };
  expect(await call("POST", "/api/auth/passkeys", { token: person.token, body })).toMatchObject(tooMany);
  const again = await call("POST", "/api/auth/passkeys/registration/options", { token: person.token });
  expect(again).toMatchObject(tooMany);
});
