import { importJWK, type JWK, jwtVerify, SignJWT } from "jose";
import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { accessTokenSeconds } from "#contract/limits/authentication.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";

const algorithm = "EdDSA";
const issuer = "lisolo";
const audience = "authenticated";
const tokenType = "at+jwt"; // RFC 9068
const clockToleranceSeconds = 30;
const verifiedMax = 2_000;

type SigningKeyEnv = Pick<Env, "JWT_PRIVATE_JWK">;
type SigningKeys = {
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  verified: BoundedMap<string, VerifiedClaims>;
};

const PrivateJwk = v.object({
  kty: v.literal("OKP"),
  crv: v.literal("Ed25519"),
  x: v.string(),
  d: v.string(),
  kid: v.string(),
});

const importSigningKey = async (jwk: JWK): Promise<CryptoKey> => {
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new Error("the signing key must be asymmetric");
  return key;
};

const importSigningKeys = async (secret: string): Promise<SigningKeys> => {
  const { d, ...jwk } = v.parse(PrivateJwk, JSON.parse(secret));
  const [privateKey, publicKey] = [await importSigningKey({ ...jwk, d }), await importSigningKey(jwk)];
  return { kid: jwk.kid, privateKey, publicKey, verified: new BoundedMap(verifiedMax) };
};

const importedKeys = new Map<string, Promise<SigningKeys>>();
const getSigningKeys = ({ JWT_PRIVATE_JWK: secret }: SigningKeyEnv): Promise<SigningKeys> => {
  const keys = importedKeys.get(secret) ?? importSigningKeys(secret);
  importedKeys.set(secret, keys);
  return keys;
};

/** Claims of an access token: user, session, and the generation of the refresh token it was issued with. */
const AccessTokenClaims = v.object({ sub: Uuid, sid: Uuid, gen: v.pipe(v.number(), v.integer(), v.minValue(0)) });
export type AccessTokenClaims = v.InferOutput<typeof AccessTokenClaims>;

/** GoTrue's assurance level and methods, for clients to read. Permissions of a session come from its row. */
export type Assurance = { aal: "aal1" | "aal2"; amr: { method: string; timestamp: number }[] };

export const signAccessToken = async (
  env: SigningKeyEnv,
  { sub, sid, gen }: AccessTokenClaims,
  nowMs = Date.now(),
  assurance: Assurance = { aal: "aal1", amr: [] },
): Promise<string> => {
  const { kid, privateKey } = await getSigningKeys(env);
  const issuedAt = Math.floor(nowMs / 1_000);
  return new SignJWT({ sid, session_id: sid, gen, role: "authenticated", ...assurance })
    .setProtectedHeader({ alg: algorithm, typ: tokenType, kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(sub)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + accessTokenSeconds)
    .sign(privateKey);
};

/** Claims of a token whose signature was verified, and the time up to which they are valid. */
type VerifiedClaims = { claims: AccessTokenClaims; untilMs: number };

/**
 * Claims of a valid access token of this service; undefined for any other. Keys in the token's header are ignored. A
 * signature is verified once per isolate: a request reads its token several times, and a flood repeats the same one.
 */
export const verifyAccessToken = async (env: SigningKeyEnv, token: string): Promise<AccessTokenClaims | undefined> => {
  const { kid, publicKey, verified } = await getSigningKeys(env);
  const known = verified.get(token);
  if (known) return Date.now() < known.untilMs ? known.claims : undefined;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, {
      algorithms: [algorithm],
      issuer,
      audience,
      typ: tokenType,
      clockTolerance: clockToleranceSeconds,
      maxTokenAge: accessTokenSeconds, // also refuses tokens issued in the future
      requiredClaims: ["iat", "exp"],
    });
    if (protectedHeader.kid !== kid) return undefined;
    const claims = v.safeParse(AccessTokenClaims, payload);
    if (!claims.success) return undefined;
    const untilMs =
      (Math.min(payload.exp ?? 0, (payload.iat ?? 0) + accessTokenSeconds) + clockToleranceSeconds) * 1_000;
    verified.set(token, { claims: claims.output, untilMs });
    return claims.output;
  } catch {
    return undefined; // the reason is not disclosed
  }
};
