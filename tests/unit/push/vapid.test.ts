import { createPublicKey, verify } from "node:crypto";
import { importJWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { makeSecrets } from "#scripts/local/secrets.mjs";
import { createVapidHeader, findVapidKey } from "#worker/lib/push/vapid.ts";

const endpoint = "https://fcm.googleapis.com/fcm/send/one";
const hourMs = 3_600_000;

const makeEnv = (more = {}) => {
  const { VAPID_PRIVATE_JWK } = makeSecrets();
  const { d: _, ...publicJwk } = JSON.parse(VAPID_PRIVATE_JWK) as JsonWebKey & { kty: "EC" };
  return { env: { VAPID_PRIVATE_JWK, ...more }, publicJwk };
};
const parse = (header: string) => {
  const [, token = "", key = ""] = /^vapid t=([\w-]+\.[\w-]+\.[\w-]+), k=([\w-]+)$/.exec(header) ?? [];
  return { token, key };
};

test("the header has a token that two other implementations accept, for the origin of the push service", async () => {
  const { env, publicJwk } = makeEnv();
  const { token, key } = parse(await createVapidHeader(env, endpoint, "https://lisolo.test"));
  const { payload } = await jwtVerify(token, await importJWK(publicJwk, "ES256"));
  expect(payload).toMatchObject({ aud: "https://fcm.googleapis.com", sub: "https://lisolo.test" });
  const [head = "", claims = "", signature = ""] = token.split(".");
  expect(
    verify(
      "sha256",
      Buffer.from(`${head}.${claims}`),
      { key: createPublicKey({ key: publicJwk, format: "jwk" }), dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    ),
  ).toBe(true);
  const point = Buffer.from(key, "base64url");
  expect(point[0]).toBe(4);
  expect(point.subarray(1, 33).toString("base64url")).toBe(publicJwk.x);
  expect(point.subarray(33).toString("base64url")).toBe(publicJwk.y);
  expect(await findVapidKey(env)).toBe(key);
});

test("a token lives twelve hours, and is used again while it is valid for at least one hour", async () => {
  const { env } = makeEnv();
  const at = async (now: number, to = endpoint) =>
    parse(await createVapidHeader(env, to, "https://lisolo.test", now)).token;
  const start = 1_800_000_000_000;
  const first = await at(start);
  const claims = JSON.parse(Buffer.from(first.split(".")[1] ?? "", "base64url").toString()) as { exp: number };
  expect(claims.exp).toBe((start + 12 * hourMs) / 1_000);
  expect(await at(start + 11 * hourMs - 1)).toBe(first);
  expect(await at(start, "https://fcm.googleapis.com/fcm/send/two")).toBe(first);
  expect(await at(start, "https://web.push.apple.com/one")).not.toBe(first);
  const later = await at(start + 11 * hourMs);
  expect(later).not.toBe(first);
  // A clock that was set back must not make the server use a token of the future.
  expect(await at(start)).not.toBe(later);
});

test("the contact is the configured one, else the public address, always with a scheme that push services accept", async () => {
  const subjectOf = async (env: { VAPID_PRIVATE_JWK: string }, origin: string) => {
    const { token } = parse(await createVapidHeader(env, endpoint, origin));
    return (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { sub: string }).sub;
  };
  expect(await subjectOf(makeEnv({ VAPID_SUBJECT: "mailto:a@lisolo.test" }).env, "https://lisolo.test")).toBe(
    "mailto:a@lisolo.test",
  );
  expect(await subjectOf(makeEnv({ VAPID_SUBJECT: " " }).env, "https://lisolo.test")).toBe("https://lisolo.test");
  expect(await subjectOf(makeEnv().env, "http://localhost:8787")).toBe("https://localhost:8787");
});

test.each([{}, { VAPID_PRIVATE_JWK: "" }, { VAPID_PRIVATE_JWK: " " }])(
  "without a key (%j) there is none",
  async (env) => {
    expect(await findVapidKey(env)).toBeUndefined();
  },
);
