import { importJWK, SignJWT } from "jose";
import * as v from "valibot";
import { hourMs } from "#contract/limits/durations.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";
import { decodeBase64Url } from "./encryption.ts";

/** Voluntary identification of this server towards push services (VAPID, RFC 8292). */

const algorithm = "ES256";
const tokenLifetimeMs = 12 * hourMs; // RFC 8292 §2 allows 24 hours
const renewBeforeMs = hourMs; // a push service's clock may be ahead
const tokensMax = 1_000;

/** Settings of VAPID. `VAPID_SUBJECT`: a mailto: or https: URL; if empty, the public address takes its place. */
export type VapidEnv = { VAPID_PRIVATE_JWK?: string; VAPID_SUBJECT?: string };

const PrivateJwk = v.object({
  kty: v.literal("EC"),
  crv: v.literal("P-256"),
  x: v.string(),
  y: v.string(),
  d: v.string(),
});

type VapidKeys = { publicKey: string; privateKey: CryptoKey | Uint8Array };

const importKeys = async (secret: string): Promise<VapidKeys> => {
  const { x, y, d } = v.parse(PrivateJwk, JSON.parse(secret));
  const point = String.fromCharCode(4, ...decodeBase64Url(x), ...decodeBase64Url(y));
  return {
    publicKey: btoa(point).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
    privateKey: await importJWK({ kty: "EC", crv: "P-256", x, y, d }, algorithm),
  };
};

const importedKeys = new Map<string, Promise<VapidKeys>>();
const findKeys = ({ VAPID_PRIVATE_JWK: secret = "" }: VapidEnv): Promise<VapidKeys> | undefined => {
  if (secret.trim() === "") return undefined;
  const keys = importedKeys.get(secret) ?? importKeys(secret);
  importedKeys.set(secret, keys);
  return keys;
};

/** Public key of this server in base64url, undefined if the deployment has none. */
export const findVapidKey = async (env: VapidEnv): Promise<string | undefined> => (await findKeys(env))?.publicKey;

const tokens = new BoundedMap<string, { token: string; issuedAt: number }>(tokensMax);

const isFresh = (issuedAt: number, now: number): boolean =>
  now >= issuedAt && now < issuedAt + tokenLifetimeMs - renewBeforeMs;

/**
 * `Authorization` header for a push service. Its token is valid for 12 hours and used for all endpoints of the same
 * origin. `contact` is the public address of this deployment, which the push service may show its operator.
 */
export const createVapidHeader = async (
  env: VapidEnv,
  endpoint: string,
  contact: string,
  now = Date.now(),
): Promise<string> => {
  const keys = await findKeys(env);
  if (!keys) throw new Error("VAPID_PRIVATE_JWK is empty");
  const { publicKey, privateKey } = keys;
  const audience = new URL(endpoint).origin;
  // Push services refuse other schemes, and some of them a mail address of this machine.
  const subject = env.VAPID_SUBJECT?.trim() || contact.replace(/^http:/, "https:");
  const cacheKey = `${publicKey} ${audience} ${subject}`;
  const known = tokens.get(cacheKey);
  if (known && isFresh(known.issuedAt, now)) return `vapid t=${known.token}, k=${publicKey}`;
  const token = await new SignJWT()
    .setProtectedHeader({ typ: "JWT", alg: algorithm })
    .setAudience(audience)
    .setSubject(subject)
    .setExpirationTime(Math.floor((now + tokenLifetimeMs) / 1_000))
    .sign(privateKey);
  tokens.set(cacheKey, { token, issuedAt: now });
  return `vapid t=${token}, k=${publicKey}`;
};
