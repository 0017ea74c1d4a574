import { and, eq, ne, notExists, type SQL, sql } from "drizzle-orm";
import type { Uuid } from "../../contract/ids";
import { phoneSearchMaxResults } from "../../contract/limits";
import type { Profile } from "../../contract/people";
import { countryCodeOf } from "../../contract/phone";
import type { Db } from "../db/client";
import { selectProfiles } from "../db/relations";
import { blocks, profiles, settings } from "../db/schema";
import { queueProfile } from "../lib/relation-delivery";

// What is looked through at most for people who let themselves be found by what was typed
const beginningMax = 5 * phoneSearchMaxResults;
const containingMax = 2 * phoneSearchMaxResults + 1;
const containingScanMax = 5 * containingMax;

/** SQL: somebody of this id lets themselves be found by a part of their number. */
const isFoundByPart = (id: SQL): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${settings} WHERE ${settings.user_id} = ${id} AND ${settings.findable} <> 'part')`;

/** SQL: or by the whole of it, which is the one looked for. */
const isFoundBy = (whole: string): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${settings} WHERE ${settings.user_id} = ${profiles.id} AND (${settings.findable} = 'nobody'
    OR (${settings.findable} = 'whole' AND ${profiles.phone} <> ${whole})))`;

/**
 * People whose number contains these digits and who let themselves be found by them, at most ten: first those whose
 * number begins with them (the exact one before the longer ones), then the others in numerical order. The prefix goes by
 * the unique index and the rest by the trigram index, each bounded, so a search costs the same in a town and in a
 * country. `whole` is the number that was typed, if it was a whole one.
 */
const searchDigits = async (db: Db, me: Uuid, digits: string, whole = `+${digits}`): Promise<Profile[]> => {
  const from = `+${digits}`;
  const to = `+${digits}:`; // the character after 9
  const [exact, beginning, containing] = await db.batch([
    selectProfiles(db, me).where(and(eq(profiles.phone, whole), ne(profiles.id, me), isFoundBy(whole))),
    selectProfiles(db, me)
      .where(
        and(
          sql`${profiles.number} IN (SELECT number FROM (SELECT number, id FROM profiles
            WHERE phone >= ${from} AND phone < ${to} ORDER BY phone LIMIT ${beginningMax}) AS near
            WHERE ${isFoundByPart(sql`near.id`)} LIMIT ${phoneSearchMaxResults + 1})`,
          ne(profiles.id, me),
        ),
      )
      .orderBy(profiles.phone),
    selectProfiles(db, me)
      .where(
        and(
          ne(profiles.id, me),
          sql`${profiles.number} IN (SELECT number FROM (SELECT rowid AS place FROM profile_phones
            WHERE phone MATCH ${`"${digits}"`} LIMIT ${containingScanMax}) JOIN profiles AS near ON near.number = place
            WHERE ${isFoundByPart(sql`near.id`)} LIMIT ${containingMax})`,
        ),
      )
      .orderBy(profiles.phone),
  ]);
  const found = new Map([...exact, ...beginning, ...containing].map((profile) => [profile.id, profile]));
  return [...found.values()].slice(0, phoneSearchMaxResults);
};

/**
 * The same, and when nobody has the digits and they begin with the 0 that people put before a number at
 * home, without it: 0810000001 finds +243810000001, also as the whole number of somebody in one's own country.
 */
export const searchByPhone = async (db: Db, me: Uuid, digits: string, minDigits: number): Promise<Profile[]> => {
  const found = await searchDigits(db, me, digits);
  const withoutTrunk = digits.replace(/^0+/, "");
  if (found.length > 0 || withoutTrunk === digits || withoutTrunk.length < minDigits) return found;
  if (digits.startsWith("00")) return searchDigits(db, me, withoutTrunk); // with a country code
  const own = await db.select({ phone: profiles.phone }).from(profiles).where(eq(profiles.id, me)).get();
  return searchDigits(db, me, withoutTrunk, own && `+${countryCodeOf(own.phone)}${withoutTrunk}`);
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
