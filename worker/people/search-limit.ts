import { createHmac } from "node:crypto";
import { and, between, desc, eq, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { dayMs, hourMs } from "#contract/limits/durations.ts";
import { newAccountHours, searchesPerDay, searchesPerDayNew } from "#contract/limits/phone-numbers.ts";
import type { Db } from "#worker/db/client.ts";
import { phone_searches, users } from "#worker/db/schema.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import type { RateLimitResult } from "#worker/lib/limits/rate-limit.ts";

/**
 * Limits the different numbers and parts of numbers that a person may search within a day, so that nobody can copy the
 * directory digit by digit. Repeating a search is free, and so is extending the last one: a pause in typing, or digits
 * deleted and typed again, are no new search. A different continuation of the same prefix is one.
 *
 * Searches extended from one prefix share their time (`searched_at`), which no other search of the person has.
 */

const purgedPerSearch = 100;

/** Keyed hash of the digits that a person searched. */
export const hashDigits = ({ PEPPER }: Pick<Env, "PEPPER">, me: Uuid, digits: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo phone search ${me} ${digits}`).digest("base64url").slice(0, 22);

/** SQL: the person's daily allowance, smaller while the account is new. Local builds raise it. */
export const selectDailyAllowance = (env: object, me: Uuid, now: number) =>
  sql`(SELECT ${readLimitFactor(env)} * CASE WHEN ${users.created_at} > ${now - newAccountHours * hourMs}
    THEN ${searchesPerDayNew} ELSE ${searchesPerDay} END FROM ${users} WHERE ${users.id} = ${me})`;

/** Counts a search, or returns the time until the next one is allowed. */
export const countSearch = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  me: Uuid,
  digits: string,
  now = Date.now(),
): Promise<RateLimitResult> => {
  const since = now - dayMs;
  const hash = hashDigits(env, me, digits);
  // Rows more than a day ahead were counted before the clock was set back.
  const own = and(eq(phone_searches.user_id, me), between(phone_searches.searched_at, since + 1, now + dayMs));
  const [, searches] = await db.batch([
    db
      .delete(phone_searches)
      .where(
        sql`rowid IN (SELECT rowid FROM ${phone_searches} WHERE searched_at <= ${since} LIMIT ${purgedPerSearch})`,
      ),
    db.select().from(phone_searches).where(own).orderBy(desc(phone_searches.searched_at)),
  ]);
  if (searches.some((search) => search.hash === hash)) return { ok: true };
  const typedLast = searches.filter(({ searched_at }) => searched_at === searches[0]?.searched_at);
  const last = typedLast.reduce<(typeof searches)[number] | undefined>(
    (a, b) => (a && a.digits > b.digits ? a : b),
    undefined,
  );
  if (last && digits.length > last.digits && hashDigits(env, me, digits.slice(0, last.digits)) === last.hash) {
    // Of two concurrent extensions of the same prefix only one counts as the same search.
    const { meta } = await db.run(sql`INSERT OR IGNORE INTO ${phone_searches} (user_id, hash, digits, searched_at)
      SELECT ${me}, ${hash}, ${digits.length}, ${last.searched_at} WHERE ${last.digits} =
        (SELECT max(digits) FROM ${phone_searches} WHERE user_id = ${me} AND searched_at = ${last.searched_at})`);
    if (meta.changes > 0) return { ok: true };
  }
  const counted = await db.run(sql`INSERT INTO ${phone_searches} (user_id, hash, digits, searched_at)
    SELECT ${me}, ${hash}, ${digits.length},
      max(${now}, (SELECT ifnull(max(searched_at) + 1, 0) FROM ${phone_searches} WHERE ${own}))
    WHERE (SELECT count(DISTINCT searched_at) FROM ${phone_searches} WHERE ${own}) < ${selectDailyAllowance(env, me, now)}
    ON CONFLICT (user_id, hash) DO UPDATE SET searched_at = excluded.searched_at`);
  if (counted.meta.changes > 0) return { ok: true };
  return { ok: false, retryAfterMs: Math.max(1_000, (searches.at(-1)?.searched_at ?? now) + dayMs - now) };
};
