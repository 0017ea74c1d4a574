import { toE164 } from "../../contract/phone";
import { openDb } from "../db/client";
import type { AppContext } from "../lib/app";
import { addressOf, returnToken, takeToken } from "../lib/rate-limit";
import { hashPassword, isOutdatedHash, verifyPassword } from "./passwords";
import { updatePasswordHash } from "./queries";

type Credentials = { id: string; password_hash: string };
/** With the hash that it was right for. */
type Right = { outcome: "right"; id: string; password_hash: string };
type Checked = Right | { outcome: "wrong" } | { outcome: "limited"; retryAfterMs: number };

/**
 * Whether it is the password of whoever has this number; without credentials it does the same work and says no. Tries are
 * held by the limits of the number and of the address, wherever a password is asked; only wrong ones cost.
 */
export const checkPassword = async (
  c: AppContext,
  phone: string,
  password: string,
  find: () => Promise<Credentials | undefined>,
): Promise<Checked> => {
  const db = openDb(c.env);
  const address = addressOf(c.req.raw);
  const number = toE164(phone) ?? phone; // whichever form of it was typed
  const limits = [
    ["sign_in_by_address", address],
    ["sign_in_by_account_and_address", `${number} ${address}`],
    ["sign_in_by_account", number],
  ] as const;
  for (const [policy, key] of limits) {
    const taken = await takeToken(db, key, policy);
    if (!taken.ok) return { outcome: "limited", retryAfterMs: taken.retryAfterMs };
  }
  const known = await find();
  const isRight = await verifyPassword(password, c.env.PEPPER, known?.password_hash);
  if (!known || !isRight) return { outcome: "wrong" };
  await Promise.all(limits.map(([policy, key]) => returnToken(db, key, policy)));
  if (!isOutdatedHash(known.password_hash)) return { outcome: "right", ...known };
  const password_hash = await hashPassword(password, c.env.PEPPER);
  await updatePasswordHash(db, known.id, known.password_hash, password_hash);
  return { outcome: "right", id: known.id, password_hash };
};
