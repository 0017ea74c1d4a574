import { type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { countryCodeOf } from "#contract/phone/phone-text.ts";
import {
  countedContactDays,
  countedContactsMax,
  type TrustTier,
  tierAllowances,
  tierBlockDays,
  tierBlocksMax,
  tierRefusalsMax,
  toTrustTier,
} from "#contract/settings/trust-tiers.ts";
import type { Db } from "#worker/db/client.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import { type RateLimitResult, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { listVerifiablePrefixes } from "#worker/lib/number-adapters.ts";
import { hashDigits } from "./search-limit.ts";

/** Trust tiers of people (docs/decisions/trust-tiers.md), computed when somebody reaches a new person. */

// Rows read at most, so that the cost does not grow with the age of an account
const contactsRead = 50;
const refusalsRead = 100;
const blocksRead = 100;
const invitationsRead = 200;

type TrustRow = {
  createdAt: number;
  verifiedAt: number | null;
  verifiedBy: string | null;
  isVerifiable: number;
  contacts: number;
  refusals: number;
  blocks: number;
};

/**
 * SQL: the person's number can be verified here. Where any can, so can the next one of somebody who has none, which a
 * stored number, beginning with a plus sign, tells apart.
 */
const isVerifiable = (prefixes: string): SQL =>
  sql`EXISTS (SELECT 1 FROM json_each(${prefixes})
    WHERE substr(profiles.phone, 1, length(value)) = value OR substr(profiles.phone, 1, 1) <> '+')`;

/**
 * SQL: a contact whose account is old enough to count, and verified where any number can be verified: accounts with
 * invented numbers of other countries do not raise each other, nor do those with numbers that contacts vouched for.
 */
const countContacts = (me: Uuid, prefixes: string, now: number): SQL =>
  sql`(SELECT count(*) FROM (SELECT 1 FROM
    (SELECT user2_id AS id FROM connections WHERE user1_id = ${me}
      UNION ALL SELECT user1_id FROM connections WHERE user2_id = ${me} LIMIT ${contactsRead}) AS others
    JOIN profiles AS other ON other.id = others.id
    WHERE other.created_at <= ${now - countedContactDays * dayMs} AND (${prefixes} = '[]'
      OR (other.verified_at IS NOT NULL AND other.verified_by IS NOT 'vouching'))
    LIMIT ${countedContactsMax}))`;

/** SQL: declined requests of this person, and invitations to groups that strangers declined. */
const countRefusals = (me: Uuid, now: number): SQL =>
  sql`((SELECT count(*) FROM (SELECT updated_at FROM connection_requests
    WHERE from_user_id = ${me} AND status = 'declined' AND connection_id IS NULL ORDER BY id DESC LIMIT ${refusalsRead})
    WHERE updated_at > ${now - dayMs})
    + (SELECT count(*) FROM (SELECT status, is_contact, updated_at FROM group_invitations
    WHERE from_user_id = ${me} ORDER BY id DESC LIMIT ${invitationsRead})
    WHERE status = 'declined' AND is_contact = 0 AND updated_at > ${now - dayMs}))`;

/**
 * SQL: people who block this person, of those whom they asked or invited to a group: strangers cannot lower anybody's
 * tier. Blocks count from the next day on, so that a change of the tier does not reveal who blocked at that moment. The
 * plus sign keeps SQLite from reading all requests of this person instead of those of the pair.
 */
const countBlocks = (me: Uuid, now: number): SQL =>
  sql`(SELECT count(*) FROM (SELECT user_id, created_at FROM blocks WHERE blocked_user_id = ${me} LIMIT ${blocksRead}) AS blocker
    WHERE blocker.created_at > ${now - tierBlockDays * dayMs} AND blocker.created_at < ${now - (now % dayMs)}
    AND (EXISTS (SELECT 1 FROM connection_requests AS asked WHERE +asked.from_user_id = ${me}
      AND asked.conversation_id = min(blocker.user_id, ${me}) || '.' || max(blocker.user_id, ${me}))
    OR EXISTS (SELECT 1 FROM group_invitations AS asked WHERE +asked.from_user_id = ${me}
      AND asked.to_user_id = blocker.user_id AND asked.is_contact = 0)))`;

type Trust = { tier: TrustTier; canVerify: boolean };

/** Tier of a person, by one statement. A local build with raised limits gives everybody the highest. */
export const readTrust = async (env: object, db: Db, me: Uuid, now = Date.now()): Promise<Trust> => {
  if (readLimitFactor(env) > 1) return { tier: "trusted", canVerify: false };
  const verifiable = listVerifiablePrefixes(env);
  const prefixes = JSON.stringify(verifiable);
  const row = await db.get<TrustRow | undefined>(sql`SELECT profiles.created_at AS createdAt,
    profiles.verified_at AS verifiedAt, profiles.verified_by AS verifiedBy, ${isVerifiable(prefixes)} AS isVerifiable, ${countContacts(me, prefixes, now)} AS contacts,
    ${countRefusals(me, now)} AS refusals, ${countBlocks(me, now)} AS blocks FROM profiles WHERE profiles.id = ${me}`);
  if (!row) return { tier: "new", canVerify: false };
  const isVerified = row.verifiedAt !== null;
  const isVouched = isVerified && row.verifiedBy === "vouching";
  const canBeVerified = row.isVerifiable === 1;
  const tier = toTrustTier({
    accountAgeMs: now - row.createdAt,
    isVerified,
    isVouched,
    isVerifiable: canBeVerified,
    isVerifying: verifiable.length > 0,
    contacts: row.contacts,
    refusals: row.refusals,
    blocks: Math.min(row.blocks, tierBlocksMax),
  });
  return { tier, canVerify: canBeVerified && (!isVerified || isVouched) && row.refusals < tierRefusalsMax };
};

/** Members of a group to which a person adds people, or null if only the common limit applies. */
export const readGroupMembersMax = async (env: object, db: Db, me: Uuid): Promise<number | null> =>
  tierAllowances[(await readTrust(env, db, me)).tier].groupMembersMax;

/** Counts something that the lower tiers do rarely. */
export const takeTierToken = async (
  env: object,
  db: Db,
  me: Uuid,
  what: "group" | "post",
): Promise<RateLimitResult> => {
  const { tier } = await readTrust(env, db, me);
  return tier === "new" || tier === "confirmed" ? takeToken(db, me, `${tier}_${what}_by_user`) : { ok: true };
};

/** Digits by which somebody may have searched for a whole number. */
const listTypedForms = (phone: string): string[] => {
  const code = countryCodeOf(phone);
  const national = phone.slice(1 + code.length).replace(/^0/, "");
  return ["", code, `00${code}`].flatMap((prefix) => [prefix + national, `${prefix}0${national}`]);
};

/** SQL: this person searched for the whole number within the last day: they know it. */
export const hasSearchedNumber = (env: Pick<Env, "PEPPER">, searcher: Uuid, phone: string, now = Date.now()): SQL => {
  const hashes = listTypedForms(phone).map((digits) => hashDigits(env, searcher, digits));
  return sql`EXISTS (SELECT 1 FROM phone_searches WHERE user_id = ${searcher} AND searched_at > ${now - dayMs}
    AND hash IN (SELECT value FROM json_each(${JSON.stringify(hashes)})))`;
};
