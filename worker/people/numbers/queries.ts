import { and, eq, gt, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import type { NumberMethod } from "#contract/auth/number.ts";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { numberCodeAttempts, voucherDays, vouchersNeeded } from "#contract/limits/phone-numbers.ts";
import type { Db } from "#worker/db/client.ts";
import { number_claims, number_notices, profiles } from "#worker/db/schema.ts";
import { number_proof_counts, number_proofs, number_vouches } from "#worker/db/security-schema.ts";
import { ownNumber } from "#worker/lib/absent-number.ts";
import { queueOneSidedRelation } from "#worker/lib/contact-updates.ts";

export type NumberProofRow = typeof number_proofs.$inferSelect;

/** Number that a person holds or claims, and what the directory knows about it. */
export const findNumber = async (db: Db, me: Uuid, now = Date.now()) => {
  const row = await db
    .select({
      phone: ownNumber,
      handle: profiles.handle,
      verified_at: profiles.verified_at,
      contested_at: profiles.contested_at,
      verified_by: profiles.verified_by,
      created_at: profiles.created_at,
      refusedMethod: sql<NumberMethod | null>`CASE WHEN ${number_proofs.is_refused} AND ${number_proofs.expires_at} > ${now}
        THEN ${number_proofs.method} END`,
      vouching: sql<Uuid | null>`CASE WHEN ${number_proofs.method} = 'vouching' AND ${number_proofs.expires_at} > ${now}
        THEN ${number_proofs.id} END`,
      provedPhone: number_proofs.phone,
      // The last one counts only together with the others, all of whom still have to be contacts then.
      vouches: sql<number>`min((SELECT count(*) FROM ${number_vouches} WHERE ${number_vouches.lookup} = ${number_proofs.lookup}),
        ${vouchersNeeded - 1})`,
    })
    .from(profiles)
    .leftJoin(number_proofs, eq(number_proofs.user_id, profiles.id))
    .where(eq(profiles.id, me))
    .get();
  // Somebody else may have proved the number meanwhile.
  return row && { ...row, vouching: row.provedPhone === row.phone ? row.vouching : null };
};

/** SQL: whose a number is as far as this person says: 2 its holder, 1 an account that claims it, 0 anybody else. */
const rankOf = (user: SQL, phone: string): SQL =>
  sql`CASE WHEN EXISTS (SELECT 1 FROM ${profiles} WHERE id = ${user} AND phone = ${phone}) THEN 2
    ELSE EXISTS (SELECT 1 FROM ${number_claims} WHERE user_id = ${user} AND phone = ${phone} AND NOT is_former) END`;

/**
 * Stores a proof in place of the person's former one. Returns false if another person's open proof has the same
 * `lookup`, so that a call could mean either of them. Whoever holds or claims the number replaces the proof of somebody
 * who does so less, and need not wait until a stranger's expires.
 */
export const insertNumberProof = async (
  db: Db,
  proof: Omit<NumberProofRow, "attempts" | "is_refused">,
  now = Date.now(),
): Promise<boolean> => {
  const { lookup } = proof;
  const [, , inserted] = await db.batch([
    db.delete(number_proofs).where(eq(number_proofs.user_id, proof.user_id)),
    db
      .delete(number_proofs)
      .where(
        and(
          lookup === null ? sql`0` : eq(number_proofs.lookup, lookup),
          or(
            lt(number_proofs.expires_at, now),
            sql`${rankOf(sql`${number_proofs.user_id}`, proof.phone)} < ${rankOf(sql`${proof.user_id}`, proof.phone)}`,
          ),
        ),
      ),
    db.insert(number_proofs).values(proof).onConflictDoNothing().returning({ id: number_proofs.id }),
  ]);
  return inserted.length > 0;
};

export const deleteNumberProof = async (db: Db, id: Uuid): Promise<void> => {
  await db.delete(number_proofs).where(eq(number_proofs.id, id));
};

/**
 * Takes one of the attempts to type the code of a proof, in the session that started it. Counted before the code is
 * compared, so that simultaneous attempts are no more than `numberCodeAttempts`.
 */
export const takeCodeAttempt = async (
  db: Db,
  { id, user, session, now }: { id: Uuid; user: Uuid; session: Uuid; now: number },
): Promise<NumberProofRow | undefined> => {
  const [row] = await db
    .update(number_proofs)
    .set({ attempts: sql`${number_proofs.attempts} + 1` })
    .where(
      and(
        eq(number_proofs.user_id, user),
        eq(number_proofs.id, id),
        eq(number_proofs.session_id, session),
        gt(number_proofs.expires_at, now),
        lt(number_proofs.attempts, numberCodeAttempts),
        eq(number_proofs.is_refused, false),
      ),
    )
    .returning();
  return row;
};

/** Open proofs of a number that a message or call at a time can complete. */
export const findProofsByLookup = (
  db: Db,
  {
    lookups,
    phone,
    method,
    adapter,
    at,
  }: {
    lookups: string[];
    phone: string;
    method: NumberMethod;
    adapter: string;
    at: { after: number; now: number };
  },
): Promise<NumberProofRow[]> =>
  db
    .select()
    .from(number_proofs)
    .where(
      and(
        inArray(number_proofs.lookup, lookups),
        eq(number_proofs.phone, phone),
        eq(number_proofs.method, method),
        eq(number_proofs.adapter, adapter),
        lt(number_proofs.created_at, at.after),
        gt(number_proofs.expires_at, at.now),
      ),
    );

/** Deletes a notice about a contact's number, and queues the update for the person's own devices. */
export const deleteNumberNotice = async (db: Db, me: Uuid, other: Uuid): Promise<void> => {
  const isNotice = and(eq(number_notices.user_id, me), eq(number_notices.other_id, other));
  await db.batch([
    queueOneSidedRelation(db, me, other, sql`EXISTS (SELECT 1 FROM ${number_notices} WHERE ${isNotice})`),
    db.delete(number_notices).where(isNotice),
  ]);
};

const countsKeptDays = 7;

/** Deletes expired proofs, the counts of past days and confirmations that count no more, up to `atOnce` of each. */
export const purgeNumberProofs = async (db: Db, now: number, atOnce: number): Promise<void> => {
  const latestDay = Math.floor(now / dayMs) - countsKeptDays;
  await db.batch([
    db
      .delete(number_proofs)
      .where(sql`rowid IN (SELECT rowid FROM ${number_proofs} WHERE expires_at < ${now} LIMIT ${atOnce})`),
    db
      .delete(number_proof_counts)
      .where(sql`rowid IN (SELECT rowid FROM ${number_proof_counts} WHERE day < ${latestDay} LIMIT ${atOnce})`),
    db
      .delete(number_vouches)
      .where(
        sql`rowid IN (SELECT rowid FROM ${number_vouches} WHERE created_at <= ${now - voucherDays * dayMs} LIMIT ${atOnce})`,
      ),
  ]);
};
