import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { getCookie, setCookie } from "hono/cookie";
import type { Uuid } from "#contract/ids.ts";
import { knownDeviceDays, knownDevicePeopleMax } from "#contract/limits/authentication.ts";
import type { AppContext } from "#worker/lib/http/app.ts";

/**
 * Device cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"): a browser in which somebody signed in
 * stores a nonce with a tag for each such person. The cookie neither authenticates nor identifies anybody; it only
 * gives the device its own limits, which strangers' failures do not use up. A nonce ends with a keyed hash of the
 * person who first signed in: the limits before sign-in are shared by all devices of that person, so that repeated
 * sign-ins do not multiply them.
 */
const deviceCookie = "__Host-lisolo-device";

type KnownDevice = { nonce: string; tags: string[] };

const nonceBytes = 16;
const nonceLength = 22; // in base64url; followed by the hash of the person who first signed in
const tagLength = 22; // 128 bits in base64url

const computeTag = ({ PEPPER }: Pick<Env, "PEPPER">, text: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo device ${text}`).digest("base64url").slice(0, tagLength);

const computeUserTag = (c: AppContext, nonce: string, user: Uuid): string => computeTag(c.env, `${nonce} ${user}`);

/** Known device of a request; undefined if the cookie is missing or not genuine. */
export const findKnownDevice = (c: AppContext): KnownDevice | undefined => {
  const [nonce = "", signature = "", ...tags] = getCookie(c, deviceCookie)?.split(".") ?? [];
  if (nonce.length !== nonceLength + tagLength) return undefined;
  const expected = Buffer.from(computeTag(c.env, nonce));
  const presented = Buffer.from(signature);
  const isGenuine = presented.length === expected.length && timingSafeEqual(presented, expected);
  return isGenuine ? { nonce, tags: tags.slice(0, knownDevicePeopleMax) } : undefined;
};

/** Rate-limit key of a known device before sign-in, shared by all devices that the same person made known. */
export const toSharedDeviceKey = ({ nonce }: KnownDevice): string => nonce.slice(nonceLength);

/** Nonce of the device if this person signed in on it before. */
export const findKnownDeviceNonce = (c: AppContext, user: Uuid): string | undefined => {
  const device = findKnownDevice(c);
  return device?.tags.includes(computeUserTag(c, device.nonce, user)) ? device.nonce : undefined;
};

const createDeviceNonce = (c: AppContext, user: Uuid): string =>
  randomBytes(nonceBytes).toString("base64url") + computeTag(c.env, `made known by ${user}`);

/** Marks the device as known to this person, in addition to those who signed in on it last. */
export const rememberDevice = (c: AppContext, user: Uuid): void => {
  const { nonce, tags } = findKnownDevice(c) ?? { nonce: createDeviceNonce(c, user), tags: [] };
  const tag = computeUserTag(c, nonce, user);
  const remembered = [tag, ...tags.filter((other) => other !== tag)].slice(0, knownDevicePeopleMax);
  setCookie(c, deviceCookie, [nonce, computeTag(c.env, nonce), ...remembered].join("."), {
    path: "/",
    secure: true,
    httpOnly: true,
    sameSite: "Strict",
    maxAge: knownDeviceDays * 86_400,
  });
};
