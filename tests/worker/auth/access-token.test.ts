import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair, importJWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { Person } from "#tests/support/people/people.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";

const use = (token: string) => call("GET", "/api/auth/user", { token });
const badJwt = { status: 401, body: { code: 401, error_code: "bad_jwt" } };

const jwk = JSON.parse(env.JWT_PRIVATE_JWK);
const ourKey = await importJWK(jwk, "EdDSA");
const now = () => Math.floor(Date.now() / 1_000);

const claimsOf = ({ token }: Person): JWTPayload =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
const header: JWTHeaderParameters = { alg: "EdDSA", typ: "at+jwt", kid: jwk.kid };

const sign = (
  claims: JWTPayload,
  changed: Partial<JWTHeaderParameters> = {},
  key: Parameters<SignJWT["sign"]>[0] = ourKey,
) => new SignJWT(claims).setProtectedHeader({ ...header, ...changed }).sign(key);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a token created like the Worker's is accepted, so that each refusal below is caused by its one change", async () => {
  const person = await makePerson();
  expect(await use(await sign(claimsOf(person)))).toMatchObject({ status: 200, body: { id: person.id } });
});

test.each([
  ["another audience", { aud: "anon" }],
  ["another issuer", { iss: "https://elsewhere.test" }],
  ["no issuer", { iss: undefined }],
  ["no end", { exp: undefined }],
  ["an end 31 seconds ago", { exp: now() - 31 }],
  ["a beginning in the future", { nbf: now() + 600 }],
  ["a making in the future", { iat: now() + 600, exp: now() + 1_200 }],
  ["a making longer ago than any lasts", { iat: now() - 700 }],
  ["no making", { iat: undefined }],
  ["several audiences, none of them ours", { aud: ["anon", "service_role"] }],
  ["no session", { sid: undefined }],
  ["a session that is no id", { sid: "' OR 1=1 --" }],
  ["no person", { sub: undefined }],
  ["a generation below zero", { gen: -1 }],
])("a token with %s is refused", async (_, changed) => {
  const person = await makePerson();
  expect(await use(await sign({ ...claimsOf(person), ...changed }))).toMatchObject(badJwt);
});

test.each([
  ["another type", { typ: "JWT" }],
  ["no type", { typ: undefined }],
  ["another key id", { kid: "other" }],
  ["no key id", { kid: undefined }],
])("a token with %s is refused", async (_, changed) => {
  const person = await makePerson();
  expect(await use(await sign(claimsOf(person), changed as Partial<JWTHeaderParameters>))).toMatchObject(badJwt);
});

test("a token without a signature is refused", async () => {
  const claims = claimsOf(await makePerson());
  for (const alg of ["none", "None", "NONE", ""]) {
    const unsigned = `${encode({ ...header, alg })}.${encode(claims)}.`;
    expect((await call("GET", "/api/auth/user", { token: unsigned })).status).toBe(401);
  }
});

test("a token signed with the public key as a shared secret is refused", async () => {
  const claims = claimsOf(await makePerson());
  const { d: _, ...publicJwk } = jwk;
  for (const secret of [jwk.x, JSON.stringify(publicJwk)]) {
    const token = await sign(claims, { alg: "HS256" }, new TextEncoder().encode(secret.padEnd(32)));
    expect(await use(token)).toMatchObject(badJwt);
  }
});

test("a key contained in the token is ignored", async () => {
  const claims = claimsOf(await makePerson());
  const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
  const own = await exportJWK(publicKey);
  expect(await use(await sign(claims, { jwk: own }, privateKey))).toMatchObject(badJwt);
  expect(await use(await sign(claims, { jku: "https://evil.test/keys" }, privateKey))).toMatchObject(badJwt);
  expect(await use(await sign(claims, {}, privateKey))).toMatchObject(badJwt);
});

test("a token whose payload was changed after signing is refused", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [head, , signature] = ana.token.split(".");
  const forged = `${head}.${encode({ ...claimsOf(ana), sub: ben.id })}.${signature}`;
  expect(await use(forged)).toMatchObject(badJwt);
});

test("a correctly signed token of another person's session, or of none, is refused", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const { sid } = claimsOf(ben);
  const gone = { status: 401, body: { error_code: "session_not_found" } };
  expect(await use(await sign({ ...claimsOf(ana), sid }))).toMatchObject(gone);
  expect(await use(await sign({ ...claimsOf(ana), sid: createUuid() }))).toMatchObject(gone);
});

test.each(["", "Bearer", "Bearer ", "Basic QWxh", "Bearer a b", "bearer\tx"])(
  "the authorization header %j is not accepted",
  async (authorization) => {
    expect(await call("GET", "/api/auth/user", { headers: { authorization } })).toMatchObject({ status: 401 });
  },
);

test("a token in the URL is ignored", async () => {
  const { token } = await makePerson();
  for (const name of ["access_token", "token", "apikey", "jwt"]) {
    expect(await call("GET", `/api/auth/user?${name}=${token}`)).toMatchObject({
      status: 401,
      body: { error_code: "no_authorization" },
    });
  }
});

test("the access cookie is accepted wherever a Bearer token is", async () => {
  const person = await makePerson();
  const headers = { cookie: `other=1; __Host-lisolo-at=${person.token}; lang=fr` };
  expect(await call("GET", "/api/auth/user", { headers })).toMatchObject({ status: 200, body: { id: person.id } });
});
