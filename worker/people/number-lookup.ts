import { and, between, eq, ne, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { phoneSearchMinLength } from "#contract/limits/phone-numbers.ts";
import type { NumberLookupResult } from "#contract/people.ts";
import { parsePhoneQuery } from "#contract/phone/phone.ts";
import { toPhoneQuery } from "#contract/phone/phone-text.ts";
import type { Db } from "#worker/db/client.ts";
import { toFoundPeople } from "#worker/db/relations.ts";
import { phone_searches, profiles, settings } from "#worker/db/schema.ts";
import { isPresentNumberSeen, selectProfiles } from "#worker/db/visible-profiles.ts";
import { ownNumber } from "#worker/lib/absent-number.ts";
import { hashDigits, selectDailyAllowance } from "./search-limit.ts";

/** Forms of a number in which an account may hold it, and the keyed hash that counts it. */
type LookedUp = { wholes: string[]; hash: string; digits: number };

/**
 * Counts each number that the person did not search within a day as one search, in their order, until the searches of
 * the day are used up. One statement, so that simultaneous lists do not take the same rest. Returns the hashes of the
 * numbers that may be looked up.
 */
const countNumbers = async (env: object, db: Db, me: Uuid, numbers: LookedUp[], now: number): Promise<Set<string>> => {
  const own = and(eq(phone_searches.user_id, me), between(phone_searches.searched_at, now - dayMs + 1, now + dayMs));
  const hashes = JSON.stringify(numbers.map(({ hash }) => hash));
  const known = await db
    .select({ hash: phone_searches.hash })
    .from(phone_searches)
    .where(and(own, sql`${phone_searches.hash} IN (SELECT value FROM json_each(${hashes}))`));
  const free = new Set(known.map(({ hash }) => hash));
  const counted = new Map(numbers.filter(({ hash }) => !free.has(hash)).map((number) => [number.hash, number.digits]));
  if (counted.size === 0) return free;
  const list = JSON.stringify([...counted].map(([hash, digits]) => ({ hash, digits })));
  // Each has a time of its own, as other searches have.
  const rows = await db.all<{ hash: string }>(sql`INSERT INTO ${phone_searches} (user_id, hash, digits, searched_at)
    SELECT ${me}, value ->> 'hash', value ->> 'digits',
      key + max(${now}, (SELECT ifnull(max(searched_at) + 1, 0) FROM ${phone_searches} WHERE ${own}))
    FROM json_each(${list})
    WHERE key + (SELECT count(DISTINCT searched_at) FROM ${phone_searches} WHERE ${own}) < ${selectDailyAllowance(env, me, now)}
    ON CONFLICT (user_id, hash) DO UPDATE SET searched_at = excluded.searched_at RETURNING hash`);
  return new Set([...free, ...rows.map(({ hash }) => hash)]);
};

/**
 * Looks up whole numbers, interpreted for the searcher's country, as if each were searched: people who do not allow it
 * are not found. Nothing of the numbers is kept but the keyed hashes that count the searches of a day.
 */
export const lookUpNumbers = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  me: Uuid,
  phones: string[],
  now = Date.now(),
): Promise<NumberLookupResult["results"]> => {
  const own = await db.select({ phone: ownNumber }).from(profiles).where(eq(profiles.id, me)).get();
  const numbers = phones.map((phone): LookedUp | undefined => {
    const { wholes } = parsePhoneQuery(toPhoneQuery(phone), own?.phone ?? "", phoneSearchMinLength);
    const [typed] = wholes;
    if (typed === undefined) return undefined;
    // The stored form, so that a number written in two ways counts once.
    const digits = typed.slice(1);
    return { wholes, hash: hashDigits(env, me, digits), digits: digits.length };
  });
  const isKnown = (number: LookedUp | undefined) => number !== undefined;
  const allowed = await countNumbers(env, db, me, numbers.filter(isKnown), now);
  const wholes = numbers.flatMap((number) => (number && allowed.has(number.hash) ? number.wholes : []));
  const profilesFound = await selectProfiles(db, me).where(
    and(
      sql`${profiles.phone} IN (SELECT value FROM json_each(${JSON.stringify(wholes)}))`,
      ne(profiles.id, me),
      isPresentNumberSeen,
      sql`NOT EXISTS (SELECT 1 FROM ${settings} WHERE ${settings.user_id} = ${profiles.id} AND ${settings.findable} = 'nobody')`,
    ),
  );
  const people = await toFoundPeople(db, me, profilesFound, () => "number");
  return numbers.map((number) => {
    if (number && !allowed.has(number.hash)) return { status: "not_searched" };
    // The likeliest form first.
    const found = number?.wholes.flatMap((whole) => people.find(({ phone }) => phone === whole) ?? [])[0];
    return found ? { status: "found", person: found } : { status: "none" };
  });
};
