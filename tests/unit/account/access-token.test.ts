import { exportJWK, generateKeyPair } from "jose";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { accessTokenSeconds } from "#contract/limits/authentication.ts";
import { signAccessToken, verifyAccessToken } from "#worker/lib/http/access-token.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const makeEnv = async () => {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return { JWT_PRIVATE_JWK: JSON.stringify({ ...(await exportJWK(privateKey)), kid: createUuid() }) };
};

test("a token's signature is verified once, and the cached result ends when the token expires", async () => {
  const [env, other] = [await makeEnv(), await makeEnv()];
  const claims = { sub: createUuid(), sid: createUuid(), gen: 3 };
  const token = await signAccessToken(env, claims);
  const verify = vi.spyOn(crypto.subtle, "verify");
  expect(await verifyAccessToken(env, token)).toEqual(claims);
  expect(await verifyAccessToken(env, token)).toEqual(claims);
  expect(verify).toHaveBeenCalledTimes(1);
  // A result verified with one key does not count for another key.
  expect(await verifyAccessToken(other, token)).toBeUndefined();
  expect(await verifyAccessToken(env, `${token.slice(0, -4)}AAAA`)).toBeUndefined();
  vi.useFakeTimers({ now: Date.now() + (accessTokenSeconds + 31) * 1_000, toFake: ["Date"] });
  expect(await verifyAccessToken(env, token)).toBeUndefined();
});
