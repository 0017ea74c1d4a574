import { and, eq, inArray, ne, notExists, notInArray, type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { phoneSearchMaxResults, phoneSearchMinLength, phoneTailDigits } from "#contract/limits.ts";
import type { FoundPerson, Profile } from "#contract/people.ts";
import { type PhoneQuery, parsePhoneQuery } from "#contract/phone.ts";
import type { Db } from "#worker/db/client.ts";
import { type ProfileWithPhone, selectProfiles, toFoundPeople } from "#worker/db/relations.ts";
import { blocks, profiles, settings } from "#worker/db/schema.ts";
import { queueProfileChange } from "#worker/lib/contact-updates.ts";

// What is looked through at most for people who let themselves be found by what was typed
const beginningMax = 5 * phoneSearchMaxResults;
const containingMax = 2 * phoneSearchMaxResults + 1;
const containingScanMax = 5 * containingMax;

/** SQL: somebody of this id lets themselves be found by a part of their number. */
const allowsPartSearch = (id: SQL): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${settings} WHERE ${settings.user_id} = ${id} AND ${settings.findable} <> 'part')`;

/** SQL: or by the whole of it, of which these are the forms. */
const allowsSearch = (wholes: readonly string[]): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${settings} WHERE ${settings.user_id} = ${profiles.id} AND (${settings.findable} = 'nobody'
    OR (${settings.findable} = 'whole' AND ${notInArray(profiles.phone, [...wholes])})))`;

/** SQL: a number without its last digits, as the index has it (migrations/0015_phone_heads.sql). */
const toPhoneHead = (phone: SQL): SQL =>
  sql`substr(${phone}, 1, max(0, length(${phone}) - ${sql.raw(`${phoneTailDigits}`)}))`;

const selectNumbersByPrefix = (beginning: string): SQL =>
  sql`SELECT number FROM (SELECT number, id FROM profiles
    WHERE ${toPhoneHead(sql`phone`)} >= ${beginning} AND ${toPhoneHead(sql`phone`)} < ${`${beginning}:`}
    ORDER BY ${toPhoneHead(sql`phone`)}, number LIMIT ${beginningMax}) AS near
    WHERE ${allowsPartSearch(sql`near.id`)} LIMIT ${phoneSearchMaxResults + 1}`; // `:` is the character after 9

const selectNumbersByPart = (part: string): SQL =>
  sql`SELECT number FROM (SELECT rowid AS place FROM profile_phone_heads
    WHERE head MATCH ${`"${part}"`} LIMIT ${containingScanMax}) JOIN profiles AS near ON near.number = place
    WHERE ${allowsPartSearch(sql`near.id`)} LIMIT ${containingMax}`;

/**
 * People whose number is or contains what was typed and who let themselves be found by it, at most ten: first those whose
 * number it is, in whichever form it is stored, then those whose number begins with it, then the others in numerical order.
 * What was typed as a part and the order say nothing of a number's last four digits, which would be found out one by one.
 * Beginnings go by an index and parts by the trigram index, each bounded, so a search costs the same in a town and
 * in a country.
 */
const searchProfiles = async (
  db: Db,
  me: Uuid,
  { wholes, beginnings, parts }: PhoneQuery,
): Promise<ProfileWithPhone[]> => {
  const among = (numbers: SQL) =>
    selectProfiles(db, me)
      .where(and(ne(profiles.id, me), sql`${profiles.number} IN (${numbers})`))
      .orderBy(toPhoneHead(sql`${profiles.phone}`), profiles.number);
  const [exact, ...others] = await db.batch([
    selectProfiles(db, me).where(and(inArray(profiles.phone, wholes), ne(profiles.id, me), allowsSearch(wholes))),
    ...beginnings.map((beginning) => among(selectNumbersByPrefix(beginning))),
    ...parts.map((part) => among(selectNumbersByPart(part))),
  ]);
  exact.sort((a, b) => wholes.indexOf(a.phone) - wholes.indexOf(b.phone));
  const found = new Map([...exact, ...others.flat()].map((profile) => [profile.id, profile]));
  return [...found.values()].slice(0, phoneSearchMaxResults);
};

/**
 * People found by digits, read as their typer may mean them: 0810000001 finds +243810000001 for somebody of that country.
 * Their numbers stand in the answer as far as they may be told.
 */
export const searchByPhone = async (db: Db, me: Uuid, digits: string): Promise<FoundPerson[]> => {
  const own = await db.select({ phone: profiles.phone }).from(profiles).where(eq(profiles.id, me)).get();
  const query = parsePhoneQuery(digits, own?.phone ?? "", phoneSearchMinLength);
  const people = await searchProfiles(db, me, query);
  return toFoundPeople(db, me, people, (phone) => query.wholes.includes(phone));
};

const ownProfileColumns = {
  id: profiles.id,
  username: profiles.username,
  phone: profiles.phone,
  avatar_url: profiles.avatar_url,
  created_at: profiles.created_at,
};

/** Changes a person's name and queues it for everybody who has their profile; answers it as it now is. */
export const updateUsername = async (db: Db, me: Uuid, username: string): Promise<Profile | undefined> => {
  const [rows] = await db.batch([
    db.update(profiles).set({ username }).where(eq(profiles.id, me)).returning(ownProfileColumns),
    queueProfileChange(db, me),
  ]);
  return rows[0];
};

type AvatarReplacement = { profile: Profile; unusedAvatar: string | undefined };

/** The same with a person's picture. `released` is the one before, unless somebody they block goes on seeing it. */
export const replaceAvatar = async (db: Db, me: Uuid, key: string): Promise<AvatarReplacement | undefined> => {
  const isShown = db
    .select({ one: sql`1` })
    .from(blocks)
    .where(and(eq(blocks.user_id, me), eq(blocks.avatar_url, profiles.avatar_url)));
  const [before, rows] = await db.batch([
    db
      .select({ key: profiles.avatar_url })
      .from(profiles)
      .where(and(eq(profiles.id, me), notExists(isShown))),
    db.update(profiles).set({ avatar_url: key }).where(eq(profiles.id, me)).returning(ownProfileColumns),
    queueProfileChange(db, me),
  ]);
  const [profile] = rows;
  return profile && { profile, unusedAvatar: before[0]?.key ?? undefined };
};
