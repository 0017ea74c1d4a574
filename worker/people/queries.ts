import { and, eq, ne, notExists, sql } from "drizzle-orm";
import type { Uuid } from "../../contract/ids";
import { phoneSearchMaxResults } from "../../contract/limits";
import type { Profile } from "../../contract/people";
import type { Db } from "../db/client";
import { selectProfiles } from "../db/relations";
import { blocks, profiles } from "../db/schema";
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
    selectProfiles(db, me)
      .where(and(sql`${profiles.phone} >= ${from}`, sql`${profiles.phone} < ${to}`, ne(profiles.id, me)))
      .orderBy(profiles.phone)
      .limit(phoneSearchMaxResults),
    selectProfiles(db, me)
      .where(
        and(
          ne(profiles.id, me),
          sql`${profiles.number} IN (SELECT rowid FROM profile_phones WHERE phone MATCH ${`"${digits}"`} LIMIT ${2 * phoneSearchMaxResults + 1})`,
        ),
      )
      .orderBy(profiles.phone),
  ]);
  const found = new Map([...beginning, ...containing].map((profile) => [profile.id, profile]));
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

const ownColumns = {
  id: profiles.id,
  username: profiles.username,
  phone: profiles.phone,
  avatar_url: profiles.avatar_url,
  created_at: profiles.created_at,
};

/** Changes a person's name and queues it for everybody who has their profile; answers it as it now is. */
export const updateName = async (db: Db, me: Uuid, username: string): Promise<Profile | undefined> => {
  const [rows] = await db.batch([
    db.update(profiles).set({ username }).where(eq(profiles.id, me)).returning(ownColumns),
    queueProfile(db, me),
  ]);
  return rows[0];
};

type Replaced = { profile: Profile; released: string | undefined };

/** The same with a person's picture. `released` is the one before, unless somebody they block goes on seeing it. */
export const replaceAvatar = async (db: Db, me: Uuid, key: string): Promise<Replaced | undefined> => {
  const isShown = db
    .select({ one: sql`1` })
    .from(blocks)
    .where(and(eq(blocks.user_id, me), eq(blocks.avatar_url, profiles.avatar_url)));
  const [before, rows] = await db.batch([
    db
      .select({ key: profiles.avatar_url })
      .from(profiles)
      .where(and(eq(profiles.id, me), notExists(isShown))),
    db.update(profiles).set({ avatar_url: key }).where(eq(profiles.id, me)).returning(ownColumns),
    queueProfile(db, me),
  ]);
  const [profile] = rows;
  return profile && { profile, released: before[0]?.key ?? undefined };
};
