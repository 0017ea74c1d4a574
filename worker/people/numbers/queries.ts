import { and, eq, gt, inArray, lt, ne, type SQL, sql } from "drizzle-orm";
import type { NumberMethod } from "#contract/auth/number.ts";
import type { Uuid } from "#contract/ids.ts";
import { numberCodeAttempts } from "#contract/limits.ts";
import { phoneForms, toE164 } from "#contract/phone.ts";
import { number_proof_counts, number_proofs } from "#worker/db/account-schema.ts";
import type { Db } from "#worker/db/client.ts";
import { profiles } from "#worker/db/schema.ts";
import { countCompletion } from "./proof-counts.ts";

export type NumberProofRow = typeof number_proofs.$inferSelect;
type OwnNumberRow = { phone: string; verified_at: number | null };

/** Number of a person in its canonical form, and when it was verified. */
export const findNumber = async (db: Db, me: Uuid): Promise<OwnNumberRow | undefined> => {
  const columns = { phone: profiles.phone, verified_at: profiles.verified_at };
  const row = await db.select(columns).from(profiles).where(eq(profiles.id, me)).get();
  return row && { phone: toE164(row.phone) ?? row.phone, verified_at: row.verified_at };
};

/**
 * Stores a proof in place of the person's former one. Returns false if another person's open proof has the same
 * `lookup`, so that a call could mean either of them.
 */
export const insertNumberProof = async (
  db: Db,
  proof: Omit<NumberProofRow, "attempts">,
  now = Date.now(),
): Promise<boolean> => {
  const { lookup } = proof;
  const [, , inserted] = await db.batch([
    db.delete(number_proofs).where(eq(number_proofs.user_id, proof.user_id)),
    db
      .delete(number_proofs)
      .where(and(lookup === null ? sql`0` : eq(number_proofs.lookup, lookup), lt(number_proofs.expires_at, now))),
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

/** SQL: the number as the directory stores it, in any form. */
const hasNumber = (phone: string): SQL => inArray(profiles.phone, phoneForms(phone));

/**
 * Completes a proof: its person holds the number verified, and nobody else. Returns false if the proof was completed or
 * replaced meanwhile, or if the person has another number now.
 */
export const completeNumberProof = async (db: Db, proof: NumberProofRow, now = Date.now()): Promise<boolean> => {
  const isOpen = sql`EXISTS (SELECT 1 FROM ${number_proofs} WHERE user_id = ${proof.user_id} AND id = ${proof.id})`;
  const [verified] = await db.batch([
    db
      .update(profiles)
      .set({ verified_at: now })
      .where(and(eq(profiles.id, proof.user_id), hasNumber(proof.phone), isOpen))
      .returning({ id: profiles.id }),
    // Another form of the number, in an account older than the canonical form.
    db
      .update(profiles)
      .set({ verified_at: null })
      .where(and(hasNumber(proof.phone), ne(profiles.id, proof.user_id), isOpen)),
    countCompletion(db, proof, isOpen),
    db.delete(number_proofs).where(and(eq(number_proofs.user_id, proof.user_id), eq(number_proofs.id, proof.id))),
  ]);
  return verified.length > 0;
};

const countsKeptDays = 7;
const dayMs = 24 * 3_600_000;

/** Deletes expired proofs and the counts of past days, up to `atOnce` of each. */
export const purgeNumberProofs = async (db: Db, now: number, atOnce: number): Promise<void> => {
  const latestDay = Math.floor(now / dayMs) - countsKeptDays;
  await db.batch([
    db
      .delete(number_proofs)
      .where(sql`rowid IN (SELECT rowid FROM ${number_proofs} WHERE expires_at < ${now} LIMIT ${atOnce})`),
    db
      .delete(number_proof_counts)
      .where(sql`rowid IN (SELECT rowid FROM ${number_proof_counts} WHERE day < ${latestDay} LIMIT ${atOnce})`),
  ]);
};
