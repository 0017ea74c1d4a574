import type * as v from "valibot";
import type { PasswordGrant } from "../../contract/auth";
import type { Uuid } from "../../contract/ids";
import { toE164 } from "../../contract/phone";
import { openDb } from "../db/client";
import type { AppContext } from "../lib/app";
import { addressKeyOf } from "../lib/client-limits";
import { hashKey } from "../lib/hashed-key";
import { findDeviceOf } from "../lib/known-device";
import { type PolicyName, returnToken, type Taken, takeToken, takeTokens } from "../lib/rate-limit";
import { redeemProof } from "./challenge";
import { hashPassword, isOutdatedHash, verifyPassword } from "./passwords";
import { findCredentials, updatePasswordHash } from "./queries";

type Credentials = { id: Uuid; password_hash: string };
type Bucket = readonly [PolicyName, string];
type Limited = { outcome: "limited"; retryAfterMs: number };
/** With the hash that it was right for. */
type Right = { outcome: "right"; id: Uuid; password_hash: string };
type Checked = Right | { outcome: "wrong" } | Limited;

const limited = ({ retryAfterMs }: Extract<Taken, { ok: false }>): Limited => ({ outcome: "limited", retryAfterMs });

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
  await Promise.all(taken.map(([policy, key]) => returnToken(db, key, policy)));
  if (!isOutdatedHash(known.password_hash)) return { outcome: "right", ...known };
  const password_hash = await hashPassword(password, c.env.PEPPER);
  await updatePasswordHash(db, known.id, known.password_hash, password_hash);
  return { outcome: "right", id: known.id, password_hash };
};

/**
 * Checks the password for a phone number. A known device has its own attempts. Other devices share the limits of the
 * number; above the limit of their address they need a proof of work (`unproved` without one), but are not refused
 * because of others behind that address.
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
  const buckets: Bucket[] = device
    ? [["sign_in_by_device", hashKey(c.env, `${device} ${number}`)]]
    : [
        ["sign_in_by_account_and_address", `${phoneKey} ${addressKey}`],
        ["sign_in_by_account", phoneKey],
      ];
  if (!device) {
    const byAddress = await takeToken(db, addressKey, "sign_in_by_address");
    if (byAddress.ok) buckets.push(["sign_in_by_address", addressKey]);
    else if (!(await redeemProof(c, meta?.captcha_token, { action: "sign_in", subject: number }))) {
      return { outcome: "unproved" };
    }
  }
  const own = buckets.filter(([policy]) => policy !== "sign_in_by_address");
  const taken = await takeTokens(db, own);
  if (!taken.ok) return limited(taken);
  const checked = await compare(c, known, password, buckets);
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
