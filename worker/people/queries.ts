import { and, eq, ne, sql } from "drizzle-orm";
import type { Uuid } from "../../contract/ids";
import { phoneSearchMaxResults } from "../../contract/limits";
import type { Profile } from "../../contract/people";
import type { Db } from "../db/client";
import { toProfile } from "../db/relations";
import { profiles } from "../db/schema";
import { queueProfile } from "../lib/relation-delivery";

/**
 * People whose number contains these digits, at most ten: first those whose number begins with them (the
 * exact one before the longer ones), then the others in numerical order. The prefix goes by the unique index and
 * the rest by the trigram index, each bounded, so a search costs the same in a town and in a country.
 */
const searchDigits = async (db: Db, me: Uuid, digits: string): Promise<Profile[]> => {
  const from = `+${digits}`;
  const to = `+${digits}:`; // the character after 9
  const [beginning, containing] = await db.batch([
    db
      .select()
      .from(profiles)
      .where(and(sql`${profiles.phone} >= ${from}`, sql`${profiles.phone} < ${to}`, ne(profiles.id, me)))
      .orderBy(profiles.phone)
      .limit(phoneSearchMaxResults),
    db
      .select()
      .from(profiles)
      .where(
        and(
          ne(profiles.id, me),
          sql`${profiles.number} IN (SELECT rowid FROM profile_phones WHERE phone MATCH ${`"${digits}"`} LIMIT ${2 * phoneSearchMaxResults + 1})`,
        ),
      )
      .orderBy(profiles.phone),
  ]);
  const found = new Map([...beginning, ...containing].map((row) => [row.id, toProfile(row)]));
  return [...found.values()].slice(0, phoneSearchMaxResults);
};

/**
 * The same, and when nobody has the digits and they begin with the 0 that people put before a number at
 * home, without it: 0810000001 finds +243810000001.
 */
export const searchByPhone = async (db: Db, me: Uuid, digits: string, minDigits: number): Promise<Profile[]> => {
  const found = await searchDigits(db, me, digits);
  const withoutTrunk = digits.replace(/^0+/, "");
  if (found.length > 0 || withoutTrunk === digits || withoutTrunk.length < minDigits) return found;
  return searchDigits(db, me, withoutTrunk);
};

/** Changes a profile and queues it for everybody who has it; answers it as it now is. */
export const updateProfile = async (
  db: Db,
  me: Uuid,
  change: { username?: string | undefined; avatar_url?: string },
): Promise<Profile | undefined> => {
  const [rows] = await db.batch([
    db.update(profiles).set(change).where(eq(profiles.id, me)).returning(),
    queueProfile(db, me),
  ]);
  const [row] = rows;
  return row && toProfile(row);
};
