import type * as v from "valibot";
import type { PasswordGrant } from "#contract/auth/sign-in.ts";
import type { Uuid } from "#contract/ids.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { toAddressKey } from "#worker/lib/limits/client-limits.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import {
  type HashTurns,
  requireHashTurn,
  reserveHashTurns,
  takeUnprovenHashes,
  waitForUnprovenHash,
} from "#worker/lib/limits/hashing-limit.ts";
import { findKnownDevice, findKnownDeviceNonce } from "#worker/lib/limits/known-device.ts";
import {
  isKnownToBeEmpty,
  type RateLimitName,
  type RateLimitResult,
  returnToken,
  takeToken,
} from "#worker/lib/limits/rate-limit.ts";
import { hashPassword, isOutdatedHash, verifyPassword } from "./passwords.ts";
import { redeemProofOfWork } from "./proof-of-work.ts";
import { listCredentials, type PasswordCredentials, passwordsOfSignIn, updatePasswordHash } from "./queries.ts";

type LimitBucket = { policy: RateLimitName; key: string; tokens: number };
type RateLimited = { outcome: "limited"; retryAfterMs: number };
/** With the hash that the password matched. */
type CorrectPassword = { outcome: "correct"; id: Uuid; password_hash: string };
type PasswordCheck = CorrectPassword | { outcome: "incorrect" } | RateLimited;

const toRateLimited = ({ retryAfterMs }: Extract<RateLimitResult, { ok: false }>): RateLimited => ({
  outcome: "limited",
  retryAfterMs,
});

const returnTokens = (db: Db, taken: readonly LimitBucket[]) =>
  Promise.all(taken.map(({ key, policy, tokens }) => returnToken(db, key, policy, tokens)));

/** Hashes that a wrong password costs at these accounts. At no account it costs one, so that none is not told apart. */
const countHashes = (accounts: readonly PasswordCredentials[]): number => Math.max(1, accounts.length);

/** The account whose password this is. Accounts are compared one after the other. No account costs a hash, too. */
const findByPassword = async (
  c: AppContext,
  accounts: readonly PasswordCredentials[],
  password: string,
  turns: HashTurns,
): Promise<PasswordCredentials | undefined> => {
  if (accounts.length === 0) await verifyPassword(c.env, password, undefined, turns);
  for (const account of accounts)
    if (await verifyPassword(c.env, password, account.password_hash, turns)) return account;
  return undefined;
};

/** Compares a password. A correct one returns its rate-limit tokens, as does one for which the isolate has no time. */
const comparePassword = async (
  c: AppContext,
  accounts: readonly PasswordCredentials[],
  password: string,
  taken: readonly LimitBucket[],
): Promise<CorrectPassword | { outcome: "incorrect" }> => {
  const db = openDb(c.env);
  let turns: HashTurns;
  try {
    turns = reserveHashTurns(c.env, countHashes(accounts));
  } catch (error) {
    await returnTokens(db, taken);
    throw error;
  }
  const account = await findByPassword(c, accounts, password, turns);
  if (!account) return { outcome: "incorrect" };
  await returnTokens(db, taken);
  if (!isOutdatedHash(c.env, account.password_hash)) return { outcome: "correct", ...account };
  const password_hash = await hashPassword(c.env, password);
  await updatePasswordHash(db, account.id, account.password_hash, password_hash);
  return { outcome: "correct", id: account.id, password_hash };
};

/** Takes the tokens of each bucket that has them. Returns the buckets that gave theirs. */
const takeAvailableTokens = async (db: Db, buckets: readonly LimitBucket[]): Promise<LimitBucket[]> => {
  const taken: LimitBucket[] = [];
  for (const bucket of buckets) {
    const { policy, key, tokens } = bucket;
    if ((await takeToken(db, key, policy, { tokens })).ok) taken.push(bucket);
  }
  return taken;
};

/** Attempts at a number from devices that know none of the accounts in question. */
const checkFromUnknownDevice = async (
  c: AppContext,
  { phone: number, password, gotrue_meta_security: meta }: v.InferOutput<typeof PasswordGrant>,
  accounts: readonly PasswordCredentials[],
  needsProof: boolean,
): Promise<PasswordCheck | { outcome: "proof_needed" }> => {
  const db = openDb(c.env);
  const [phoneKey, addressKey] = [hashLimitKey(c.env, number), toAddressKey(c)];
  const hashes = countHashes(accounts);
  // One for each guess, and not for each hash: who claims a number must not use up the guesses of its holder.
  const ownBucket = { policy: "sign_in_by_account_and_address", key: `${phoneKey} ${addressKey}`, tokens: 1 } as const;
  const sharedBuckets: LimitBucket[] = [
    { policy: "sign_in_by_address", key: addressKey, tokens: hashes },
    { policy: "sign_in_by_account", key: phoneKey, tokens: hashes },
  ];
  const taken = await takeToken(db, ownBucket.key, ownBucket.policy);
  if (!taken.ok) return toRateLimited(taken);
  const takenBuckets = [ownBucket, ...(await takeAvailableTokens(db, sharedBuckets))];
  const isUnproven = !needsProof && takenBuckets.length > sharedBuckets.length;
  // The turn of the first hash came before the directory was read.
  if (!isUnproven || !takeUnprovenHashes(hashes - 1)) {
    const proof = meta?.captcha_token;
    const isProved = await redeemProofOfWork(c, proof, { action: "sign_in", subject: number }, { hashes });
    if (!isProved) {
      await returnTokens(db, takenBuckets); // the client repeats this attempt with a proof
      return { outcome: "proof_needed" };
    }
  }
  return comparePassword(c, accounts, password, takenBuckets);
};

/**
 * Checks the password for a phone number or a handle. A known device has its own attempts, for the accounts it knows:
 * several may share a number, and one of them must not serve to guess the password of another. Other devices share
 * those of the number at their address. A handle has attempts of its own: shared ones would reveal its number. Above the limit of the address or of the number, or while many others wait,
 * they need a proof of work (`proof_needed` without one), but are not refused because of others.
 */
export const checkSignInPassword = async (
  c: AppContext,
  grant: v.InferOutput<typeof PasswordGrant>,
): Promise<PasswordCheck | { outcome: "proof_needed" }> => {
  const db = openDb(c.env);
  const addressKey = toAddressKey(c);
  const proof = grant.gotrue_meta_security?.captcha_token;
  const isShortOfAttempts = () => isKnownToBeEmpty(addressKey, "sign_in_by_address");
  // Checked again after waiting: meanwhile others at this address may have used up its attempts.
  const needsProof =
    !findKnownDevice(c) &&
    (Boolean(proof) || isShortOfAttempts() || !(await waitForUnprovenHash()) || isShortOfAttempts());
  // Answered before the directory is read: the same for every number.
  if (needsProof && !proof) return { outcome: "proof_needed" };
  requireHashTurn(c.env);
  const accounts = await listCredentials(db, grant.phone);
  const known = accounts.filter(({ id }) => findKnownDeviceNonce(c, id) !== undefined);
  const others = accounts.filter((account) => !known.includes(account)).slice(0, passwordsOfSignIn);
  let checked: PasswordCheck | { outcome: "proof_needed" } = { outcome: "incorrect" };
  const device = findKnownDevice(c)?.nonce;
  if (device !== undefined && known.length > 0) {
    const compared = known.slice(0, passwordsOfSignIn);
    const key = hashLimitKey(c.env, `${device} ${grant.phone}`);
    const ownBucket: LimitBucket = { policy: "sign_in_by_device", key, tokens: countHashes(compared) };
    const taken = await takeToken(db, key, ownBucket.policy, ownBucket);
    if (!taken.ok) return toRateLimited(taken);
    checked = await comparePassword(c, compared, grant.password, [ownBucket]);
  }
  if (checked.outcome === "incorrect" && (known.length === 0 || others.length > 0))
    checked = await checkFromUnknownDevice(c, grant, others, needsProof);
  if (checked.outcome !== "correct") return checked;
  const success = await takeToken(db, checked.id, "sign_in_success_by_account");
  return success.ok ? checked : toRateLimited(success);
};

/**
 * Checks the password of the signed-in caller. Only failures of this session count, so that other sessions cannot lock
 * it out.
 */
export const checkOwnPassword = async (
  c: AppContext,
  account: PasswordCredentials,
  password: string,
): Promise<PasswordCheck> => {
  const { session } = c.var.caller;
  const bucket: LimitBucket = { policy: "password_by_session", key: session, tokens: 1 };
  const taken = await takeToken(openDb(c.env), session, bucket.policy);
  return taken.ok ? comparePassword(c, [account], password, [bucket]) : toRateLimited(taken);
};
