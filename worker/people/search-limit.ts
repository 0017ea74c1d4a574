import { createHmac } from "node:crypto";
import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { Uuid } from "../../contract/ids";
import { newAccountHours, searchesPerDay, searchesPerDayNew } from "../../contract/limits";
import type { Db } from "../db/client";
import { phone_searches, users } from "../db/schema";
import type { Taken } from "../lib/rate-limit";

/**
 * How many different numbers and parts of numbers a person may look for within a day, so that nobody copies the directory
 * digit by digit. Asking again costs nothing, nor does going on with what was typed last: a pause in typing is no search of
 * its own. Another ending of the same beginning is.
 */

const dayMs = 24 * 3_600_000;
const forgottenAtOnce = 100;

const hashOf = ({ PEPPER }: Pick<Env, "PEPPER">, me: Uuid, digits: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo phone search ${me} ${digits}`).digest("base64url").slice(0, 22);

/** SQL: how many searches this person has, fewer while their account is new. */
const allowanceOf = (me: Uuid, now: number) =>
  sql`(SELECT CASE WHEN ${users.created_at} > ${now - newAccountHours * 3_600_000} THEN ${searchesPerDayNew}
    ELSE ${searchesPerDay} END FROM ${users} WHERE ${users.id} = ${me})`;

/** Counts a search, or says when the next one may be made. */
export const countSearch = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  me: Uuid,
  digits: string,
  now = Date.now(),
): Promise<Taken> => {
  const since = now - dayMs;
  const hash = hashOf(env, me, digits);
  const own = and(eq(phone_searches.user_id, me), gt(phone_searches.searched_at, since));
  const [, made] = await db.batch([
    db
      .delete(phone_searches)
      .where(
        sql`rowid IN (SELECT rowid FROM ${phone_searches} WHERE searched_at <= ${since} LIMIT ${forgottenAtOnce})`,
      ),
    db.select().from(phone_searches).where(own).orderBy(desc(phone_searches.searched_at)),
  ]);
  if (made.some((search) => search.hash === hash)) return { ok: true };
  const [last] = made;
  if (last && digits.length > last.digits && hashOf(env, me, digits.slice(0, last.digits)) === last.hash) {
    // Of two that go on from the same beginning at once only one takes its place.
    const { meta } = await db.run(sql`UPDATE OR IGNORE ${phone_searches} SET hash = ${hash}, digits = ${digits.length}
      WHERE user_id = ${me} AND hash = ${last.hash}`);
    if (meta.changes > 0) return { ok: true };
  }
  const counted = await db.run(sql`INSERT INTO ${phone_searches} (user_id, hash, digits, searched_at)
    SELECT ${me}, ${hash}, ${digits.length}, ${now}
    WHERE (SELECT count(*) FROM ${phone_searches} WHERE ${own}) < ${allowanceOf(me, now)}
    ON CONFLICT (user_id, hash) DO UPDATE SET searched_at = excluded.searched_at`);
  if (counted.meta.changes > 0) return { ok: true };
  return { ok: false, retryAfterMs: Math.max(1_000, (made.at(-1)?.searched_at ?? now) + dayMs - now) };
};
