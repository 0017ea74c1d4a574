import type * as v from "valibot";
import type { PasswordGrant } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { toE164 } from "#contract/phone.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { addressKeyOf } from "#worker/lib/limits/client-limits.ts";
import { hashKey } from "#worker/lib/limits/hashed-key.ts";
import { findDeviceOf } from "#worker/lib/limits/known-device.ts";
import { type PolicyName, returnToken, type Taken, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { hashPassword, isOutdatedHash, verifyPassword } from "./passwords.ts";
import { redeemProof } from "./proof-of-work.ts";
import { findCredentials, updatePasswordHash } from "./queries.ts";

type Credentials = { id: Uuid; password_hash: string };
type Bucket = readonly [PolicyName, string];
type Limited = { outcome: "limited"; retryAfterMs: number };
/** With the hash that it was right for. */
type Right = { outcome: "right"; id: Uuid; password_hash: string };
type Checked = Right | { outcome: "wrong" } | Limited;

const limited = ({ retryAfterMs }: Extract<Taken, { ok: false }>): Limited => ({ outcome: "limited", retryAfterMs });

const returnTokens = (db: Db, taken: readonly Bucket[]) =>
  Promise.all(taken.map(([policy, key]) => returnToken(db, key, policy)));

/** Compares a password. A right one returns its rate-limit tokens; an unknown account costs the same hashing work. */
const compare = async (
  c: AppContext,
  known: Credentials | undefined,
  password: string,
  taken: readonly Bucket[],
): Promise<Right | { outcome: "wrong" }> => {
  const db = openDb(c.env);
  const isRight = await verifyPassword(password, c.env.PEPPER, known?.password_hash);
  if (!known || !isRight) return { outcome: "wrong" };
  await returnTokens(db, taken);
  if (!isOutdatedHash(known.password_hash)) return { outcome: "right", ...known };
  const password_hash = await hashPassword(password, c.env.PEPPER);
  await updatePasswordHash(db, known.id, known.password_hash, password_hash);
  return { outcome: "right", id: known.id, password_hash };
};

/** Takes one token of each of these buckets that has one. Returns those it was taken of. */
const takeAvailable = async (db: Db, buckets: readonly Bucket[]): Promise<Bucket[]> => {
  const taken: Bucket[] = [];
  for (const [policy, key] of buckets) if ((await takeToken(db, key, policy)).ok) taken.push([policy, key]);
  return taken;
};

/**
 * Checks the password for a phone number. A known device has its own attempts. Other devices share those of the number at
 * their address. Above the limit of the address or of the number they need a proof of work (`unproved` without one), but
 * are not refused because of others.
 */
export const checkSignIn = async (
  c: AppContext,
  { phone, password, gotrue_meta_security: meta }: v.InferOutput<typeof PasswordGrant>,
): Promise<Checked | { outcome: "unproved" }> => {
  const db = openDb(c.env);
  const known = await findCredentials(db, phone);
  const device = known && findDeviceOf(c, known.id);
  const number = toE164(phone) ?? phone; // whichever form of it was typed
  const [phoneKey, addressKey] = [hashKey(c.env, number), addressKeyOf(c)];
  const own: Bucket = device
    ? ["sign_in_by_device", hashKey(c.env, `${device} ${number}`)]
    : ["sign_in_by_account_and_address", `${phoneKey} ${addressKey}`];
  const shared: Bucket[] = device
    ? []
    : [
        ["sign_in_by_address", addressKey],
        ["sign_in_by_account", phoneKey],
      ];
  const taken = await takeToken(db, own[1], own[0]);
  if (!taken.ok) return limited(taken);
  const all = [own, ...(await takeAvailable(db, shared))];
  if (all.length <= shared.length) {
    const isProved = await redeemProof(c, meta?.captcha_token, { action: "sign_in", subject: number });
    if (!isProved) {
      await returnTokens(db, all); // the same try comes again with its proof
      return { outcome: "unproved" };
    }
  }
  const checked = await compare(c, known, password, all);
  if (checked.outcome === "wrong") return checked;
  const success = await takeToken(db, checked.id, "sign_in_success_by_account");
  return success.ok ? checked : limited(success);
};

/** Whether it is the password of whoever is signed in. Only failures of this session count: others keep nobody from it. */
export const checkOwnPassword = async (c: AppContext, known: Credentials, password: string): Promise<Checked> => {
  const { session } = c.var.caller;
  const taken = await takeToken(openDb(c.env), session, "password_by_session");
  return taken.ok ? compare(c, known, password, [["password_by_session", session]]) : limited(taken);
};
