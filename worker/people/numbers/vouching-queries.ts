import { and, count, eq, gt, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { voucherDays, vouchersNeeded, vouchesMax } from "#contract/limits/phone-numbers.ts";
import type { Db } from "#worker/db/client.ts";
import { connections } from "#worker/db/relation-schema.ts";
import { profiles } from "#worker/db/schema.ts";
import { number_proofs, number_vouches } from "#worker/db/security-schema.ts";
import { ownNumber } from "#worker/lib/absent-number.ts";
import type { NumberProofRow } from "./queries.ts";

/** Contacts who confirm whose a number is (docs/decisions/vouching.md). */

const toSince = (now: number): number => now - voucherDays * dayMs;
const contactsRead = 200; // of each side, so that the cost does not grow with the number of contacts

/** SQL: id of the private conversation of two people. */
const pairOf = (a: SQL, b: SQL): SQL => sql`min(${a}, ${b}) || '.' || max(${a}, ${b})`;

/** SQL: neither person blocks the other. */
const isUnblocked = (a: SQL, b: SQL): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM blocks WHERE user_id = ${a} AND blocked_user_id = ${b})
    AND NOT EXISTS (SELECT 1 FROM blocks WHERE user_id = ${b} AND blocked_user_id = ${a})`;

/** SQL: the profile `voucher` has a number verified long enough ago, and not by vouching: trust makes no chains. */
const hasOldNumber = (since: number): SQL =>
  sql`voucher.verified_at <= ${since} AND voucher.verified_by IS NOT 'vouching'`;

/** SQL: this person may vouch for that one, apart from how often they did. */
const mayVouch = (by: SQL, whom: SQL, since: number): SQL =>
  sql`EXISTS (SELECT 1 FROM profiles AS voucher JOIN connections ON connections.conversation_id = ${pairOf(by, whom)}
    WHERE voucher.id = ${by} AND ${hasOldNumber(since)} AND voucher.contested_at IS NULL
      AND connections.created_at <= ${since} AND ${isUnblocked(by, whom)})`;

/**
 * Whether a person has as many contacts as are needed who could vouch as far as the person knows: blocks and the number
 * of vouches that they gave are theirs alone.
 */
export const hasVouchers = async (db: Db, me: Uuid, now: number): Promise<boolean> => {
  const since = toSince(now);
  const of = (own: string, other: string): SQL =>
    sql`SELECT * FROM (SELECT ${sql.raw(other)} AS id FROM connections WHERE ${sql.raw(own)} = ${me}
      AND created_at <= ${since} ORDER BY connections.id LIMIT ${contactsRead})`;
  const found = await db.all(sql`SELECT 1 FROM (${of("user1_id", "user2_id")} UNION ALL ${of("user2_id", "user1_id")})
    AS others JOIN profiles AS voucher ON voucher.id = others.id WHERE ${hasOldNumber(since)} LIMIT ${vouchersNeeded}`);
  return found.length >= vouchersNeeded;
};

const isOpenVouching = (lookup: string, now: number) =>
  and(
    eq(number_proofs.lookup, lookup),
    eq(number_proofs.method, "vouching"),
    eq(number_proofs.is_refused, false),
    gt(number_proofs.expires_at, now),
  );

const countGiven = (by: Uuid, since: number): SQL<number> =>
  sql<number>`(SELECT count(*) FROM number_vouches WHERE voucher_id = ${by} AND created_at > ${since})`;

type Vouching = {
  /** Open proof; undefined for everybody but an unblocked contact. */
  proof: NumberProofRow | undefined;
  hasConfirmed: boolean;
  /** Why this contact may not confirm; undefined if they may. */
  refusal: ErrorCode | undefined;
  /** Open proof of the person's own number. */
  ownProof?: Pick<NumberProofRow, "id" | "phone" | "expires_at">;
};

/** Proof by vouching as this person may see it. Who is no contact reads the same rows as for an unknown code. */
export const findVouching = async (db: Db, me: Uuid, lookup: string, now: number): Promise<Vouching> => {
  const since = toSince(now);
  const voucher = alias(profiles, "voucher");
  const [[row], [own], [shown]] = await db.batch([
    db
      .select({
        proof: number_proofs,
        phone: ownNumber,
        // Named, because D1 returns the columns of a batch by their names, of which the proof has one too.
        contactSince: sql<number>`${connections.created_at}`.as("contact_since"),
        hasNumber: sql`${hasOldNumber(since)} AND voucher.contested_at IS NULL`.mapWith(Boolean),
        given: countGiven(me, since),
      })
      .from(number_proofs)
      .innerJoin(
        connections,
        sql`${connections.conversation_id} = ${pairOf(sql`${number_proofs.user_id}`, sql`${me}`)}`,
      )
      .innerJoin(profiles, eq(profiles.id, number_proofs.user_id))
      .innerJoin(voucher, eq(voucher.id, me))
      .where(and(isOpenVouching(lookup, now), isUnblocked(sql`${me}`, sql`${number_proofs.user_id}`))),
    db
      .select({ lookup: number_vouches.lookup })
      .from(number_vouches)
      .where(and(eq(number_vouches.voucher_id, me), eq(number_vouches.lookup, lookup))),
    db
      .select({
        id: number_proofs.id,
        phone: number_proofs.phone,
        expires_at: number_proofs.expires_at,
        present: sql<string>`${ownNumber}`.as("present_phone"),
      })
      .from(number_proofs)
      .innerJoin(profiles, eq(profiles.id, number_proofs.user_id))
      .where(and(eq(number_proofs.user_id, me), isOpenVouching(lookup, now))),
  ]);
  const hasConfirmed = own !== undefined;
  if (shown && shown.present === shown.phone)
    return { proof: undefined, hasConfirmed, refusal: "vouching_not_found", ownProof: shown };
  // The number of the account may have changed since.
  if (!row || row.phone !== row.proof.phone) return { proof: undefined, hasConfirmed, refusal: "vouching_not_found" };
  const { proof, contactSince, hasNumber, given } = row;
  const refuse = (refusal: ErrorCode | undefined): Vouching => ({ proof, hasConfirmed, refusal });
  if (hasConfirmed) return refuse(undefined);
  if (contactSince > since) return refuse("voucher_contact_too_new");
  if (!hasNumber) return refuse("voucher_number_too_new");
  return refuse(given >= vouchesMax ? "vouches_used_up" : undefined);
};

/**
 * Stores a confirmation, unless its giver gave too many or may not vouch by now. Returns whether it is stored, and
 * whether enough contacts have confirmed who still may.
 */
export const insertVouch = async (
  db: Db,
  me: Uuid,
  lookup: string,
  now: number,
): Promise<{ isStored: boolean; isEnough: boolean }> => {
  const since = toSince(now);
  const subject = sql`(SELECT user_id FROM number_proofs WHERE lookup = ${lookup})`;
  const [, own, [valid]] = await db.batch([
    db
      .insert(number_vouches)
      .select(
        sql`SELECT ${me}, lookup, ${now} FROM number_proofs WHERE ${isOpenVouching(lookup, now)}
          AND ${countGiven(me, since)} < ${vouchesMax} AND ${mayVouch(sql`${me}`, sql`number_proofs.user_id`, since)}`,
      )
      .onConflictDoNothing(),
    db
      .select({ lookup: number_vouches.lookup })
      .from(number_vouches)
      .where(and(eq(number_vouches.voucher_id, me), eq(number_vouches.lookup, lookup))),
    db
      .select({ count: count() })
      .from(number_vouches)
      .where(and(eq(number_vouches.lookup, lookup), mayVouch(sql`${number_vouches.voucher_id}`, subject, since))),
  ]);
  return { isStored: own.length > 0, isEnough: (valid?.count ?? 0) >= vouchersNeeded };
};
