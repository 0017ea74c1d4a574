import { inArray, or, type SQL, sql } from "drizzle-orm";
import type { MiddlewareHandler } from "hono";
import type { Uuid } from "#contract/ids.ts";
import { handleChangeDays, handleChangesMax } from "#contract/limits/people.ts";
import {
  foreignNumbersNew,
  newAccountHours,
  numberCodesPerDay,
  numberCodesPerDayNew,
  numberProofsPerDay,
} from "#contract/limits/phone-numbers.ts";
import { tierAllowances } from "#contract/settings/trust-tiers.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { rate_limits } from "#worker/db/schema.ts";
import type { AppEnv } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { BoundedMap } from "./bounded-map.ts";

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** Token bucket: `burst` at once, then one every `everyMs`. */
export type RateLimitPolicy = { burst: number; everyMs: number };

const toDailyPolicy = (count: number): RateLimitPolicy => ({ burst: count, everyMs: day / count });

/**
 * Rate limits of the HTTP API, counted exactly in the directory (Signal and Synapse publish comparable figures).
 * `memory-limits.ts` stops floods before them. Limits by address are wide: a whole
 * mobile network of Kinshasa shares a handful of addresses. Guessing and enumeration are bounded by the limits of the
 * account and by the proof of work of each sign-up.
 */
export const rateLimitPolicies = {
  // Only failures count: a success returns its token.
  sign_in_by_account_and_address: { burst: 5, everyMs: 5 * minute },
  // Wider than one attacker's bucket. Beyond it an attempt needs a proof of work, so that nobody can lock out an
  // account from elsewhere. This bucket and the next one count hashes: an attempt takes one token for each account of
  // the number whose password it compares.
  sign_in_by_account: { burst: 50, everyMs: minute },
  // Likewise: each wrong password costs a hash, which occupies the isolate for a sixth of a second. Three of them are
  // less than 5 % of any 20 s, so that they do not show in the 95th percentile of other people's requests.
  sign_in_by_address: { burst: 3, everyMs: 30 * second },
  // A known device has its own attempts, which other people's failures do not use up. It counts hashes, too.
  sign_in_by_device: { burst: 5, everyMs: 5 * minute },
  // Reauthentication by password in a session, likewise.
  password_by_session: { burst: 5, everyMs: 5 * minute },
  // New passwords, counted by hash: one to compare it with the present one, one to store it.
  password_change_by_session: { burst: 6, everyMs: minute },
  // Successful sign-ins.
  sign_in_success_by_account: { burst: 20, everyMs: 30 * second },
  // Attacker with the password who guesses the code: six attempts for each window of three valid codes.
  totp_by_user: { burst: 5, everyMs: 6 * second },
  // Only failures count: after twenty a day from one address, or sixty from anywhere, code apps are blocked for
  // pending sessions; a passkey or a recovery code still works.
  totp_failure_by_user_and_address: { burst: 20, everyMs: day / 20 },
  totp_failure_by_user: { burst: 60, everyMs: day / 60 },
  // Other people's failures do not block the reauthentication of a full session.
  totp_failure_by_session: { burst: 20, everyMs: day / 20 },
  // Codes that cannot be guessed are limited by session, so that a holder of the password does not use up the owner's
  // attempts.
  recovery_code_by_session: { burst: 5, everyMs: minute },
  step_by_session: { burst: 20, everyMs: 6 * second },
  passkey_by_address: { burst: 120, everyMs: second },
  // By session, so that a stolen session cannot prevent the owner from ending it.
  security_by_session: { burst: 60, everyMs: 2 * second },
  recover_by_account: { burst: 4, everyMs: 15 * minute },
  // 60-bit codes cannot be guessed at this pace, and each attempt costs a proof of work. By number and address, so
  // that nobody can use up the owner's attempts.
  recover_by_phone_and_address: { burst: 10, everyMs: minute },
  // Mails to addresses that a person claims as theirs.
  mail_by_user: { burst: 5, everyMs: 10 * minute },
  verify_by_address: { burst: 60, everyMs: 2 * second },
  oauth_by_address: { burst: 120, everyMs: second },
  refresh_by_session: { burst: 30, everyMs: 10 * second },
  search_by_user: { burst: 20, everyMs: 3 * second },
  lookup_by_user: { burst: 5, everyMs: minute }, // each number in it counts as a search of the day
  request_by_user: { burst: 50, everyMs: minute }, // contacts/request-limits.ts counts their outcomes
  // Each one asks the person's groups.
  request_contexts_by_user: { burst: 60, everyMs: 10 * second },
  contact_change_by_user: { burst: 120, everyMs: second },
  block_by_user: { burst: 60, everyMs: 2 * second },
  group_by_user: { burst: 10, everyMs: day / 20 },
  // Groups and statuses of people in the lower trust tiers.
  new_group_by_user: toDailyPolicy(tierAllowances.new.groupsPerDay),
  confirmed_group_by_user: toDailyPolicy(tierAllowances.confirmed.groupsPerDay),
  new_post_by_user: toDailyPolicy(tierAllowances.new.postsPerDay),
  confirmed_post_by_user: toDailyPolicy(tierAllowances.confirmed.postsPerDay),
  group_change_by_user: { burst: 120, everyMs: second },
  // Each new name, and each change of who sees the picture or the number, is pushed to the devices of all
  // acquaintances.
  profile_change_by_user: { burst: 8, everyMs: 15 * second },
  // Attempts, most of which are refused because the handle is taken.
  handle_by_user: { burst: 30, everyMs: 20 * second },
  // Only changes count.
  handle_change_by_user: { burst: handleChangesMax, everyMs: handleChangeDays * day },
  // Each different handle is a guess.
  handle_search_by_user: { burst: 60, everyMs: day / 240 },
  // Codes cost money: each person may start few proofs, and each number is sent few codes, whoever requests them.
  number_proof_by_user: { burst: numberProofsPerDay, everyMs: day / numberProofsPerDay },
  // Accounts younger than three days, so that codes to strangers need many of them.
  new_number_code_by_user: { burst: numberCodesPerDayNew, everyMs: day },
  new_foreign_number_by_user: { burst: foreignNumbersNew, everyMs: newAccountHours * 60 * minute },
  // Notices that somebody called from the number, for accounts that have not verified it.
  number_asked_by_user: { burst: 1, everyMs: day },
  number_code_by_number: { burst: numberCodesPerDay, everyMs: day / numberCodesPerDay },
  link_change_by_user: { burst: 20, everyMs: day / 20 },
  // Only new ones count. Each connects 20 people (contract/names/invitation.ts).
  invitation_by_user: { burst: 3, everyMs: 10 * day },
  link_search_by_user: { burst: 30, everyMs: minute },
  upload_by_user: { burst: 50, everyMs: 1_200 },
  upload_by_user_and_day: { burst: 1_000, everyMs: day / 1_000 },
  completion_by_user: { burst: 50, everyMs: 1_200 },
  // One and a half times a day's bytes, at once: a part may have to be uploaded again.
  part_by_user: { burst: 12_000, everyMs: day / 12_000 },
  settings_by_user: { burst: 60, everyMs: 2 * second },
  // Each picture is encoded in two sizes, which is billed.
  avatar_by_user: { burst: 20, everyMs: day / 20 },
  group_picture_by_user: { burst: 20, everyMs: day / 20 },
  post_picture_by_user: { burst: 20, everyMs: day / 20 },
  // Requested at the start of a call and with every ICE restart on a bad network, every few seconds at worst.
  ice_by_user: { burst: 60, everyMs: 5 * second },
  // Relays are billed by the gigabyte. A relayed call requests credentials twice in seven minutes.
  relay_by_user: { burst: 400, everyMs: day / 400 },
  // A client without a socket polls once a second for the signals of a call.
  call_poll_by_user: { burst: 120, everyMs: 500 },
  feedback_by_user: { burst: 20, everyMs: 30 * second },
  // Repeating a published status is free.
  post_by_user: { burst: 10, everyMs: 2 * minute },
  post_deletion_by_user: { burst: 60, everyMs: minute },
  // A device saves its subscription at every start.
  push_subscription_by_user: { burst: 60, everyMs: 10 * second },
  push_test_by_user: { burst: 5, everyMs: 30 * second },
  socket_by_user: { burst: 30, everyMs: 2 * second },
} as const satisfies Record<string, RateLimitPolicy>;
export type RateLimitName = keyof typeof rateLimitPolicies;

/** Buckets of spent proofs of work (auth/proof-difficulty.ts). */
export const spentProofBuckets = {
  byAddress: "spent_proofs_by_address",
  byAccount: "spent_proofs_by_account",
} as const;

export type RateLimitResult = { ok: true } | { ok: false; retryAfterMs: number };

const toBucketKey = (name: RateLimitName, key: string): string => `${name}:${key}`;

const emptyBucketsMax = 20_000;

/**
 * Empty buckets of this isolate with the time up to which they stay empty: further requests are refused without a
 * statement. A token returned in another isolate becomes visible here after that time.
 */
export const emptyBuckets = new BoundedMap<string, number>(emptyBucketsMax);

const getEmptyMs = (key: string, { burst, everyMs }: RateLimitPolicy, now: number): number => {
  const ms = (emptyBuckets.get(key) ?? now) - now;
  return ms > burst * everyMs ? 0 : ms; // no bucket is empty for longer: the clock was set back
};

/** Whether this isolate knows that the bucket is empty. No statement is executed. */
export const isKnownToBeEmpty = (key: string, name: RateLimitName, now = Date.now()): boolean =>
  getEmptyMs(toBucketKey(name, key), rateLimitPolicies[name], now) > 0;

/**
 * Takes tokens exactly, one by default, by one statement: all of them or none. A bucket is stored as the time at which
 * it is full again (the generic cell rate algorithm, ITU-T I.371): each token advances that time, at most `burst` tokens
 * ahead.
 */
export const takeToken = async (
  db: Db,
  key: string,
  name: RateLimitName,
  { tokens = 1, now = Date.now() }: { tokens?: number; now?: number } = {},
): Promise<RateLimitResult> => {
  const { burst, everyMs } = rateLimitPolicies[name];
  const takenMs = tokens * everyMs;
  const waitMs = getEmptyMs(toBucketKey(name, key), rateLimitPolicies[name], now);
  if (waitMs > 0) return { ok: false, retryAfterMs: Math.max(second, waitMs) };
  const latest = now + burst * everyMs;
  const next = sql`max(${rate_limits.full_at}, ${now}) + ${takenMs}`;
  const taken = await db
    .insert(rate_limits)
    .values({ key: toBucketKey(name, key), full_at: now + takenMs })
    .onConflictDoUpdate({ target: rate_limits.key, set: { full_at: next }, setWhere: sql`${next} <= ${latest}` })
    .returning({ full_at: rate_limits.full_at });
  if (taken.length > 0) return { ok: true };
  const [row] = await db
    .select({ full_at: rate_limits.full_at })
    .from(rate_limits)
    .where(sql`${rate_limits.key} = ${toBucketKey(name, key)}`);
  const aheadMs = (row?.full_at ?? now) - latest;
  // Several tokens are refused while there may be one.
  if (aheadMs + everyMs > 0) emptyBuckets.set(toBucketKey(name, key), now + aheadMs + everyMs);
  return { ok: false, retryAfterMs: Math.max(second, aheadMs + takenMs) };
};

/** Returns tokens, one by default: their request turned out to be free. */
export const returnToken = async (db: Db, key: string, name: RateLimitName, tokens = 1): Promise<void> => {
  emptyBuckets.delete(toBucketKey(name, key));
  await db
    .update(rate_limits)
    .set({ full_at: sql`${rate_limits.full_at} - ${tokens * rateLimitPolicies[name].everyMs}` })
    .where(sql`${rate_limits.key} = ${toBucketKey(name, key)}`);
};

/** Takes one token of each of these buckets, or of none if one of them is empty. */
export const takeTokens = async (
  db: Db,
  buckets: readonly (readonly [RateLimitName, string])[],
): Promise<RateLimitResult> => {
  for (const [n, [name, key]] of buckets.entries()) {
    const taken = await takeToken(db, key, name);
    if (taken.ok) continue;
    for (const [other, otherKey] of buckets.slice(0, n)) await returnToken(db, otherKey, other);
    return taken;
  }
  return { ok: true };
};

/** SQL: buckets of this key at every address. */
const isBucketAtAnyAddress = (name: RateLimitName, key: string): SQL => {
  const from = toBucketKey(name, `${key} `);
  const to = from.replace(/ $/, "!"); // the character after the space
  return sql`(${rate_limits.key} > ${from} AND ${rate_limits.key} < ${to})`;
};

/** Removes all buckets of a person. */
export const purgeUserBuckets = async (db: Db, user: Uuid): Promise<void> => {
  const names = (Object.keys(rateLimitPolicies) as RateLimitName[]).filter((name) => /_by_user(_and_day)?$/.test(name));
  const own = inArray(
    rate_limits.key,
    names.map((name) => toBucketKey(name, user)),
  );
  for (const name of names) emptyBuckets.delete(toBucketKey(name, user));
  await db.delete(rate_limits).where(or(own, isBucketAtAnyAddress("totp_failure_by_user_and_address", user)));
};

/** SQL: sign-in buckets of a phone number at any address. Takes the number's `hashLimitKey`. */
export const isPhoneBucket = (phone: string): SQL => {
  const everywhere = isBucketAtAnyAddress("sign_in_by_account_and_address", phone);
  const own = inArray(rate_limits.key, [
    toBucketKey("sign_in_by_account", phone),
    `${spentProofBuckets.byAccount}:${phone}`,
  ]);
  return sql`(${own} OR ${everywhere})`;
};

/** Removes up to `atOnce` full buckets, which carry no information; returns their number. */
export const purgeFullBuckets = async (db: Db, now = Date.now(), atOnce = 100): Promise<number> => {
  const { meta } = await db.run(
    sql`DELETE FROM rate_limits WHERE key IN (SELECT key FROM rate_limits WHERE full_at < ${now} LIMIT ${atOnce})`,
  );
  return meta.changes;
};

/** Normalises an address. An IPv6 user has at least 2^64 addresses (RFC 6177), so their first 64 bits count as one. */
const toNetwork = (address: string): string => {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1); // IPv4-mapped IPv6 address
  const [front = [], back = []] = address
    .toLowerCase()
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  const between = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0");
  const groups = [...front, ...between, ...back].map((group) => group.replace(/^0+(?=.)/, ""));
  return `${groups.slice(0, 4).join(":")}::/64`;
};

/**
 * Client address as reported by the platform. Headers that a client can set are ignored. Without the platform's header,
 * as on a local server, all clients share one bucket.
 */
export const getClientAddress = (request: Request): string => {
  const address = request.headers.get("cf-connecting-ip");
  return address === null ? "local" : toNetwork(address);
};

/** Middleware that takes one token of each of the caller's buckets. Must follow `authenticate`. */
export const limitCaller =
  (...names: RateLimitName[]): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const db = openDb(c.env);
    for (const name of names) {
      const taken = await takeToken(db, c.var.caller.user, name);
      if (!taken.ok) return refuse(c, "rate_limited", taken);
    }
    return next();
  };

/** Middleware that takes one token of the session's bucket. Must follow `authenticate`. */
export const limitSession =
  (name: RateLimitName): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const taken = await takeToken(openDb(c.env), c.var.caller.session, name);
    return taken.ok ? next() : refuse(c, "rate_limited", taken);
  };
