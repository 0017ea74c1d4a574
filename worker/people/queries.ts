import { and, eq, inArray, ne, notExists, notInArray, type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { phoneSearchMaxResults, phoneSearchMinLength, phoneTailDigits } from "#contract/limits/phone-numbers.ts";
import type { FoundPerson, Profile } from "#contract/people.ts";
import { type PhoneQuery, parsePhoneQuery } from "#contract/phone/phone.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks } from "#worker/db/relation-schema.ts";
import { toFoundPeople } from "#worker/db/relations.ts";
import { profiles, settings } from "#worker/db/schema.ts";
import { isPresentNumberSeen, selectProfiles } from "#worker/db/visible-profiles.ts";
import { ownNumber } from "#worker/lib/absent-number.ts";
import { queueProfileChange } from "#worker/lib/contact-updates.ts";
import type { StoredProfile } from "#worker/lib/profile-visibility.ts";

// Upper bounds of the rows scanned for people whose settings allow the search
const beginningMax = 5 * phoneSearchMaxResults;
const containingMax = 2 * phoneSearchMaxResults + 1;
const containingScanMax = 5 * containingMax;

/** SQL: a person of the table "near" allows being found by part of their number. */
const allowsPart = sql`NOT EXISTS (SELECT 1 FROM ${settings}
  WHERE ${settings.user_id} = near.id AND ${settings.findable} <> 'part')`;

/** SQL: the number of a person of the table "near" cannot be verified here, so that it counts without proof. */
const isUnverifiable = (prefixes: readonly string[]): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(prefixes)}) WHERE substr(near.phone, 1, length(value)) = value)`;

/** SQL: this person allows being found, by part of the number or by the whole one, whose forms are `wholes`. */
const allowsSearch = (wholes: readonly string[]): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${settings} WHERE ${settings.user_id} = ${profiles.id} AND (${settings.findable} = 'nobody'
    OR (${settings.findable} = 'whole' AND ${notInArray(profiles.phone, [...wholes])})))`;

/** SQL: a number without its last digits, as in the index (migrations/0000_directory.sql). */
const toPhoneHead = (phone: SQL): SQL =>
  sql`substr(${phone}, 1, max(0, length(${phone}) - ${sql.raw(`${phoneTailDigits}`)}))`;

const selectNearPrefix = (beginning: string, among: SQL, condition: SQL): SQL =>
  sql`SELECT number FROM (SELECT number, id, phone FROM profiles
    WHERE ${toPhoneHead(sql`phone`)} >= ${beginning} AND ${toPhoneHead(sql`phone`)} < ${`${beginning}:`} AND ${among}
    ORDER BY ${toPhoneHead(sql`phone`)}, number LIMIT ${beginningMax}) AS near
    WHERE ${condition} LIMIT ${phoneSearchMaxResults + 1}`; // `:` is the character after 9

const selectNearPart = (part: string, heads: "profile_phone_heads" | "verified_phone_heads", condition: SQL): SQL =>
  sql`SELECT number FROM (SELECT rowid AS place FROM ${sql.identifier(heads)}
    WHERE head MATCH ${`"${part}"`} LIMIT ${containingScanMax}) JOIN profiles AS near ON near.number = place
    WHERE ${condition} LIMIT ${containingMax}`;

/** SQL: both selections, each with its own bound. */
const unite = (one: SQL, other: SQL): SQL => sql`SELECT number FROM (${one}) UNION SELECT number FROM (${other})`;

/**
 * Numbers that begin with these digits or contain them. A number that begins as one that people can verify here
 * (`prefixes`) must be verified: an invented number does not appear among others. Verified numbers are read from their
 * own index, so that unverified ones do not use up its bound.
 */
const selectNumbersByPrefix = (beginning: string, prefixes: readonly string[]): SQL => {
  if (prefixes.length === 0) return selectNearPrefix(beginning, sql`1`, allowsPart);
  const verified = selectNearPrefix(beginning, sql`verified_at IS NOT NULL`, allowsPart);
  if (prefixes.some((prefix) => beginning.startsWith(prefix))) return verified;
  return unite(verified, selectNearPrefix(beginning, sql`1`, sql`${allowsPart} AND ${isUnverifiable(prefixes)}`));
};

const selectNumbersByPart = (part: string, prefixes: readonly string[]): SQL => {
  const all = (condition: SQL) => selectNearPart(part, "profile_phone_heads", condition);
  if (prefixes.length === 0) return all(allowsPart);
  return unite(
    selectNearPart(part, "verified_phone_heads", allowsPart),
    all(sql`${allowsPart} AND ${isUnverifiable(prefixes)}`),
  );
};

/**
 * People who allow being found by the typed digits, at most ten: first the exact number in any stored form, then
 * numbers that begin with the digits, then the others in numerical order. Somebody whose number changed since they
 * blocked the searcher is not found: neither by the number that the searcher sees, nor by the new one. Partial matches and their order ignore a
 * number's last four digits, which could otherwise be found out one by one. Prefixes use an index and parts the trigram
 * index, each with a bound, so that the cost does not grow with the number of users.
 */
const searchProfiles = async (
  db: Db,
  me: Uuid,
  { wholes, beginnings, parts }: PhoneQuery,
  prefixes: readonly string[],
): Promise<StoredProfile[]> => {
  const selectAmong = (numbers: SQL) =>
    selectProfiles(db, me)
      .where(and(ne(profiles.id, me), isPresentNumberSeen, sql`${profiles.number} IN (${numbers})`))
      .orderBy(toPhoneHead(sql`${profiles.phone}`), profiles.number);
  const [exact, ...others] = await db.batch([
    selectProfiles(db, me).where(
      and(inArray(profiles.phone, wholes), ne(profiles.id, me), isPresentNumberSeen, allowsSearch(wholes)),
    ),
    ...beginnings.map((beginning) => selectAmong(selectNumbersByPrefix(beginning, prefixes))),
    ...parts.map((part) => selectAmong(selectNumbersByPart(part, prefixes))),
  ]);
  exact.sort((a, b) => wholes.indexOf(a.phone) - wholes.indexOf(b.phone));
  const found = new Map([...exact, ...others.flat()].map((profile) => [profile.id, profile]));
  return [...found.values()].slice(0, phoneSearchMaxResults);
};

/**
 * Searches people by digits, interpreted for the searcher's country: 0810000001 finds +243810000001. Results contain
 * the visible part of each number. `prefixes`: beginnings of the numbers that people can verify here.
 */
export const searchByPhone = async (
  db: Db,
  me: Uuid,
  digits: string,
  prefixes: readonly string[],
): Promise<FoundPerson[]> => {
  const own = await db.select({ phone: ownNumber }).from(profiles).where(eq(profiles.id, me)).get();
  const query = parsePhoneQuery(digits, own?.phone ?? "", phoneSearchMinLength);
  const people = await searchProfiles(db, me, query, prefixes);
  return toFoundPeople(db, me, people, (phone) => (query.wholes.includes(phone) ? "number" : "digits"));
};

const ownProfileColumns = {
  id: profiles.id,
  username: profiles.username,
  phone: ownNumber,
  avatar_url: profiles.avatar_url,
  created_at: profiles.created_at,
};

type AvatarReplacement = { profile: Profile; unusedAvatar: string | undefined };

/**
 * Replaces a person's picture and queues the update. `unusedAvatar`: the previous picture, unless a blocked person
 * still sees it.
 */
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
