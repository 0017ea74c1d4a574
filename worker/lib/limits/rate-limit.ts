import { inArray, or, type SQL, sql } from "drizzle-orm";
import type { MiddlewareHandler } from "hono";
import type { Uuid } from "#contract/ids.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { rate_limits } from "#worker/db/schema.ts";
import type { AppEnv } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { BoundedMap } from "./bounded-map.ts";

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** A token bucket: `burst` at once, then one every `everyMs`. */
export type RateLimitPolicy = { burst: number; everyMs: number };

/**
 * Every limit of the HTTP API (Signal and Synapse publish comparable figures). Limits by address are
 * wide: a whole mobile network of Kinshasa stands behind a handful of addresses. What is guessed or
 * enumerated is held by the limit of the account, and by the proof of work that each sign-up costs.
 */
export const rateLimitPolicies = {
  // Only failures cost here: a success gives its token back.
  sign_in_by_account_and_address: { burst: 5, everyMs: 5 * minute },
  // Wider than one guesser's. Beyond it a try costs a proof of work: nobody keeps somebody else out from elsewhere.
  sign_in_by_account: { burst: 50, everyMs: minute },
  // Likewise: each wrong password costs a hash, which occupies the runtime for a sixth of a second.
  sign_in_by_address: { burst: 5, everyMs: 30 * second },
  // A device on which somebody signed in before has tries of its own, which nobody else's failures use up.
  sign_in_by_device: { burst: 5, everyMs: 5 * minute },
  // Who is signed in and shows the password once more, likewise.
  password_by_session: { burst: 5, everyMs: 5 * minute },
  // And those that succeed.
  sign_in_success_by_account: { burst: 20, everyMs: 30 * second },
  // Whoever has the password and guesses the code: six tries for each window of three codes that are right.
  totp_by_user: { burst: 5, everyMs: 6 * second },
  // Only failures cost here: after twenty in a day from one address, or sixty from anywhere, code apps wait for whoever
  // owes a second step; a passkey or a recovery code still goes.
  totp_failure_by_user_and_address: { burst: 20, everyMs: day / 20 },
  totp_failure_by_user: { burst: 60, everyMs: day / 60 },
  // Who is signed in already is kept from a step-up by nobody else's failures.
  totp_failure_by_session: { burst: 20, everyMs: day / 20 },
  // What cannot be guessed is held by the session that tries: whoever has the password empties nothing of the owner's.
  recovery_code_by_session: { burst: 5, everyMs: minute },
  step_by_session: { burst: 20, everyMs: 6 * second },
  passkey_by_address: { burst: 120, everyMs: second },
  // By session, so that a stolen one keeps nobody from ending it.
  security_by_session: { burst: 60, everyMs: 2 * second },
  recover_by_account: { burst: 4, everyMs: 15 * minute },
  // A code of 60 bits is not guessed at this pace, and each try costs a proof of work: by number and address, so that nobody empties it for its owner.
  recover_by_phone_and_address: { burst: 10, everyMs: minute },
  // Mails to addresses that somebody says are theirs.
  mail_by_user: { burst: 5, everyMs: 10 * minute },
  verify_by_address: { burst: 60, everyMs: 2 * second },
  oauth_by_address: { burst: 120, everyMs: second },
  refresh_by_session: { burst: 30, everyMs: 10 * second },
  search_by_user: { burst: 20, everyMs: 3 * second },
  request_by_user: { burst: 50, everyMs: minute }, // contacts/request-limits.ts counts what became of them
  contact_change_by_user: { burst: 120, everyMs: second },
  block_by_user: { burst: 60, everyMs: 2 * second },
  group_by_user: { burst: 10, everyMs: day / 20 },
  group_change_by_user: { burst: 120, everyMs: second },
  profile_change_by_user: { burst: 20, everyMs: 15 * second },
  upload_by_user: { burst: 50, everyMs: 1_200 },
  upload_by_user_and_day: { burst: 1_000, everyMs: day / 1_000 },
  completion_by_user: { burst: 50, everyMs: 1_200 },
  // A day's bytes once and a half, at once: a part may have to be brought again.
  part_by_user: { burst: 12_000, everyMs: day / 12_000 },
  settings_by_user: { burst: 60, everyMs: 2 * second },
  // Each picture is drawn anew in two sizes, which costs its price.
  avatar_by_user: { burst: 20, everyMs: day / 20 },
  group_picture_by_user: { burst: 20, everyMs: day / 20 },
  post_picture_by_user: { burst: 20, everyMs: day / 20 },
  // A call asks when it begins and with every way it tries anew on a bad network, every few seconds at worst.
  ice_by_user: { burst: 60, everyMs: 5 * second },
  // A relay costs by the gigabyte. A call that goes through it asks twice in seven minutes.
  relay_by_user: { burst: 400, everyMs: day / 400 },
  // Who has no socket asks once a second for what is told in a call.
  call_poll_by_user: { burst: 120, everyMs: 500 },
  feedback_by_user: { burst: 20, everyMs: 30 * second },
  // Sent again it costs nothing, once it stands.
  post_by_user: { burst: 10, everyMs: 2 * minute },
  post_deletion_by_user: { burst: 60, everyMs: minute },
  socket_by_user: { burst: 30, everyMs: 2 * second },
} as const satisfies Record<string, RateLimitPolicy>;
export type RateLimitName = keyof typeof rateLimitPolicies;

/** Names of the buckets of spent proofs of work (auth/proof-difficulty.ts). */
export const spentProofBuckets = {
  byAddress: "spent_proofs_by_address",
  byAccount: "spent_proofs_by_account",
} as const;

export type RateLimitResult = { ok: true } | { ok: false; retryAfterMs: number };

const toBucketKey = (name: RateLimitName, key: string): string => `${name}:${key}`;

const emptyBucketsMax = 20_000;

/**
 * Buckets that were found empty, and until when they are: whoever asks again before is refused without a statement. In
 * the memory of one runtime; a token that is given back in another one is known here when that time is over.
 */
export const emptyBuckets = new BoundedMap<string, number>(emptyBucketsMax);

const getEmptyMs = (key: string, { burst, everyMs }: RateLimitPolicy, now: number): number => {
  const ms = (emptyBuckets.get(key) ?? now) - now;
  return ms > burst * everyMs ? 0 : ms; // no bucket is empty for longer: the clock was set back
};

/**
 * Takes one token, exactly, by one statement. The bucket is kept as the time at which it is full again
 * (the generic cell rate algorithm, ITU-T I.371): each token moves that time on, and none may move it further
 * than `burst` tokens ahead.
 */
export const takeToken = async (
  db: Db,
  key: string,
  name: RateLimitName,
  now = Date.now(),
): Promise<RateLimitResult> => {
  const { burst, everyMs } = rateLimitPolicies[name];
  const waitMs = getEmptyMs(toBucketKey(name, key), rateLimitPolicies[name], now);
  if (waitMs > 0) return { ok: false, retryAfterMs: Math.max(second, waitMs) };
  const latest = now + burst * everyMs;
  const next = sql`max(${rate_limits.full_at}, ${now}) + ${everyMs}`;
  const taken = await db
    .insert(rate_limits)
    .values({ key: toBucketKey(name, key), full_at: now + everyMs })
    .onConflictDoUpdate({ target: rate_limits.key, set: { full_at: next }, setWhere: sql`${next} <= ${latest}` })
    .returning({ full_at: rate_limits.full_at });
  if (taken.length > 0) return { ok: true };
  const [row] = await db
    .select({ full_at: rate_limits.full_at })
    .from(rate_limits)
    .where(sql`${rate_limits.key} = ${toBucketKey(name, key)}`);
  const emptyMs = (row?.full_at ?? now) + everyMs - latest;
  emptyBuckets.set(toBucketKey(name, key), now + emptyMs);
  return { ok: false, retryAfterMs: Math.max(second, emptyMs) };
};

/** Gives one token back: what it was taken for turned out to cost nothing. */
export const returnToken = async (db: Db, key: string, name: RateLimitName): Promise<void> => {
  emptyBuckets.delete(toBucketKey(name, key));
  await db
    .update(rate_limits)
    .set({ full_at: sql`${rate_limits.full_at} - ${rateLimitPolicies[name].everyMs}` })
    .where(sql`${rate_limits.key} = ${toBucketKey(name, key)}`);
};

/** Takes one token of each of these buckets, or of none when one of them is empty. */
export const takeTokens = async (
  db: Db,
  buckets: readonly (readonly [RateLimitName, string])[],
): Promise<RateLimitResult> => {
  for (const [n, [name, key]] of buckets.entries()) {
    const taken = await takeToken(db, key, name);
    if (taken.ok) continue;
    for (const [other, its] of buckets.slice(0, n)) await returnToken(db, its, other);
    return taken;
  }
  return { ok: true };
};

/** SQL: buckets of somebody's at every address they were used from. */
const isBucketAtAnyAddress = (name: RateLimitName, key: string): SQL => {
  const from = toBucketKey(name, `${key} `);
  const to = from.replace(/ $/, "!"); // the character after the space
  return sql`(${rate_limits.key} > ${from} AND ${rate_limits.key} < ${to})`;
};

/** Removes a person's own buckets, whatever they say. */
export const purgeUserBuckets = async (db: Db, user: Uuid): Promise<void> => {
  const names = (Object.keys(rateLimitPolicies) as RateLimitName[]).filter((name) => /_by_user(_and_day)?$/.test(name));
  const own = inArray(
    rate_limits.key,
    names.map((name) => toBucketKey(name, user)),
  );
  for (const name of names) emptyBuckets.delete(toBucketKey(name, user));
  await db.delete(rate_limits).where(or(own, isBucketAtAnyAddress("totp_failure_by_user_and_address", user)));
};

/** SQL: buckets of a number that somebody signs in with, from wherever. Takes the number's `hashKey`. */
export const isPhoneBucket = (phone: string): SQL => {
  const everywhere = isBucketAtAnyAddress("sign_in_by_account_and_address", phone);
  const own = inArray(rate_limits.key, [
    toBucketKey("sign_in_by_account", phone),
    `${spentProofBuckets.byAccount}:${phone}`,
  ]);
  return sql`(${own} OR ${everywhere})`;
};

/** Removes buckets that are full and therefore say nothing, so many at a time; how many there were. */
export const purgeFullBuckets = async (db: Db, now = Date.now(), atOnce = 100): Promise<number> => {
  const { meta } = await db.run(
    sql`DELETE FROM rate_limits WHERE key IN (SELECT key FROM rate_limits WHERE full_at < ${now} LIMIT ${atOnce})`,
  );
  return meta.changes;
};

/** Whoever has an IPv6 address has at least 2^64 of them (RFC 6177), which count as one: their first 64 bits. */
const toNetwork = (address: string): string => {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1); // an IPv4 address in IPv6's clothes
  const [front = [], back = []] = address
    .toLowerCase()
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  const between = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0");
  const groups = [...front, ...between, ...back].map((group) => group.replace(/^0+(?=.)/, ""));
  return `${groups.slice(0, 4).join(":")}::/64`;
};

/**
 * The address a request comes from, as the platform says it. No header that a client can set counts; without
 * the platform's there is one bucket for all, which is what a local server sees.
 */
export const getClientAddress = (request: Request): string => {
  const address = request.headers.get("cf-connecting-ip");
  return address === null ? "local" : toNetwork(address);
};

/** Middleware: one token of the caller's own bucket for every request of this route. Stands after `authenticate`. */
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

/** Middleware: one token of the session's bucket. Stands after `authenticate`. */
export const limitSession =
  (name: RateLimitName): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const taken = await takeToken(openDb(c.env), c.var.caller.session, name);
    return taken.ok ? next() : refuse(c, "rate_limited", taken);
  };
