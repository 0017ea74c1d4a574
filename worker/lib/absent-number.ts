import { sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { number_claims, profiles } from "#worker/db/schema.ts";

/**
 * Accounts without a number: somebody else verified it, or held it already when they registered. The columns `phone`
 * cannot be empty, because SQLite changes that only by a new table, and deleting the old one would delete all rows that
 * refer to it. A unique text stands in place of the number. It has no digits, so that no search by digits finds it.
 */

const absentPrefix = "none-";
const letters = "ghijklmnop"; // one for each digit, none of which hexadecimal digits use

/** Stored in place of the number of this account. */
export const createAbsentNumber = (id: Uuid): string =>
  absentPrefix + id.replaceAll("-", "").replace(/\d/g, (digit) => letters[Number(digit)] ?? "");

/** Number as stored, or empty if the account has none. */
export const toPresentNumber = (stored: string): string => (stored.startsWith(absentPrefix) ? "" : stored);

/** SQL: number that a person of `profiles` gave as theirs: the one they hold, else the one they claim. */
export const ownNumber = sql<string>`ifnull((SELECT ${number_claims.phone} FROM ${number_claims}
  WHERE ${number_claims.user_id} = ${profiles.id} AND NOT ${number_claims.is_former}), ${profiles.phone})`.mapWith(
  toPresentNumber,
);
