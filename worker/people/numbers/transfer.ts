import { randomInt } from "node:crypto";
import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import { isWeakProof, type NumberMethod, weakMethods } from "#contract/auth/number.ts";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { numberContestDays, numberUnusedDays } from "#contract/limits/phone-numbers.ts";
import { toSkeleton } from "#contract/names/skeleton.ts";
import type { NumberNotice } from "#contract/people.ts";
import type { Db } from "#worker/db/client.ts";
import { handles, number_claims, number_notices, profiles, users } from "#worker/db/schema.ts";
import { number_proofs } from "#worker/db/security-schema.ts";
import { createAbsentNumber, ownNumber } from "#worker/lib/absent-number.ts";
import { queueProfileChange } from "#worker/lib/contact-updates.ts";
import { selectAudienceFor } from "#worker/lib/exceptions.ts";
import { countCompletion } from "./proof-counts.ts";
import type { NumberProofRow } from "./queries.ts";

/**
 * Changes made by a completed proof (docs/decisions/number-takeover.md). Only the number moves: conversations, groups,
 * requests and calls belong to accounts.
 */

/** No digit or letter of a neutral handle can be taken for another. */
const handleLetters = "abcdefghjkpqtuxyz2346789";
const handleLength = 9;

/** Handle for an account that loses its number. It says nothing about the person, who can change it. */
const createNeutralHandle = (): string =>
  `u${Array.from({ length: handleLength }, () => handleLetters[randomInt(handleLetters.length)]).join("")}`;

/** SQL: a profile, or a row of this name, has this number. */
const holds = (phone: string, of = "profiles"): SQL => sql`${sql.raw(of)}.phone = ${phone}`;

const toUnusedSince = (now: number): number => now - numberUnusedDays * dayMs;

/** SQL: the account of the profile `held` is not used. */
const isUnused = (now: number): SQL =>
  sql`(held.ended_session_at <= ${toUnusedSince(now)} AND NOT EXISTS (
    SELECT 1 FROM sessions WHERE user_id = held.id AND awaits = 0 AND refreshed_at > ${toUnusedSince(now)}))`;

const weakList = sql.raw(weakMethods.map((method) => `'${method}'`).join(", "));

/**
 * SQL: the holder `held` gives the number up to whoever proves it by this method. To a weak proof only an account that
 * is not used and has not verified the number gives it up, and such a proof yields to any other.
 */
const givesUp = (method: NumberMethod, now: number): SQL =>
  isWeakProof(method)
    ? sql`(held.verified_at IS NULL AND ${isUnused(now)})`
    : sql`(held.verified_at IS NULL OR held.verified_by IN (${weakList})
    OR ifnull(held.contested_at, ${now}) <= ${now - numberContestDays * dayMs}
    OR (held.verified_at <= ${toUnusedSince(now)} AND ${isUnused(now)}))`;

/** SQL: accounts that hold the number or claim it. */
const selectContenders = (phone: string): SQL =>
  sql`SELECT id FROM profiles WHERE ${holds(phone)}
    UNION SELECT user_id FROM number_claims WHERE NOT is_former AND ${holds(phone, "number_claims")}`;

/** SQL: those of them that other people use. */
const selectLive = (phone: string, me: Uuid, now: number): SQL =>
  sql`SELECT held.id FROM profiles AS held
    WHERE held.id IN (${selectContenders(phone)}) AND held.id <> ${me} AND NOT ${isUnused(now)}`;

/** Statement that asks a person's contacts to confirm something about the number, if it was shown to them. */
const insertNotices = (db: Db, about: Uuid, kind: NumberNotice, condition: SQL) =>
  db
    .insert(number_notices)
    .select(
      sql`SELECT other, ${about}, ${kind} FROM (
        SELECT user2_id AS other FROM connections WHERE user1_id = ${about}
        UNION SELECT user1_id FROM connections WHERE user2_id = ${about})
      WHERE ${condition} AND NOT EXISTS (SELECT 1 FROM settings
        WHERE user_id = ${about} AND ${selectAudienceFor("phoneTo", sql`other`)} = 'nobody')`,
    )
    // A warning stays until it is confirmed, whatever follows.
    .onConflictDoUpdate({
      target: [number_notices.user_id, number_notices.other_id],
      set: { kind },
      setWhere: eq(number_notices.kind, "changed"),
    });

/** Statements by which a holder loses a number, keeps everything else and has a handle from then on. */
const releaseNumber = (db: Db, holder: Uuid, phone: string, isAllowed: SQL, now: number) => {
  const handle = createNeutralHandle();
  const skeleton = toSkeleton(handle);
  const isHolder = sql`(${isAllowed} AND EXISTS (SELECT 1 FROM profiles WHERE id = ${holder} AND ${holds(phone)}))`;
  const isNameless = sql`EXISTS (SELECT 1 FROM profiles WHERE id = ${holder} AND handle IS NULL)`;
  return [
    insertNotices(db, holder, "left", isHolder),
    db
      .insert(handles)
      .select(sql`SELECT ${skeleton}, ${holder}, NULL WHERE ${isHolder} AND ${isNameless}`)
      .onConflictDoNothing(),
    db
      .update(profiles)
      .set({ handle })
      .where(
        and(
          eq(profiles.id, holder),
          sql`${profiles.handle} IS NULL`,
          sql`EXISTS (SELECT 1 FROM ${handles} WHERE skeleton = ${skeleton} AND user_id = ${holder})`,
          isHolder,
        ),
      ),
    db
      .insert(number_claims)
      .select(sql`SELECT ${holder}, ${phone}, ${now}, 1 WHERE ${isHolder}`)
      .onConflictDoUpdate({
        target: number_claims.user_id,
        set: { phone: sql`excluded.phone`, created_at: sql`excluded.created_at`, is_former: true },
      }),
    db
      .update(users)
      .set({ phone: createAbsentNumber(holder) })
      .where(and(eq(users.id, holder), isHolder)),
    queueProfileChange(db, holder),
    db
      .update(profiles)
      .set({ phone: createAbsentNumber(holder), verified_at: null, verified_by: null, contested_at: null })
      .where(and(eq(profiles.id, holder), isHolder)),
  ] as const;
};

export type Completion =
  | { outcome: "expired" }
  /**
   * `asked`: accounts whose person is to verify the number. `isContest`: this is the holder, who may lose it otherwise.
   */
  | { outcome: "in_use"; asked: Uuid[]; isContest: boolean }
  /** `formerHolders` lost the number; `isChange`: the person had another one until now. */
  | { outcome: "verified"; formerHolders: Uuid[]; isChange: boolean };

/**
 * Keeps a proof as refused. The holder is asked to verify the number again, once; a call only asks those who have not
 * verified it, as it cannot take the number from anybody who uses the account, and vouching asks nobody.
 */
const refuseProof = async (db: Db, proof: NumberProofRow, now: number): Promise<Completion> => {
  const { user_id: me, phone, method } = proof;
  const isProof = and(eq(number_proofs.user_id, me), eq(number_proofs.id, proof.id));
  const isContest = !isWeakProof(method);
  const [contested, live] = await db.batch([
    db
      .update(profiles)
      .set({ contested_at: now })
      .where(and(holds(phone), ne(profiles.id, me), sql`${profiles.contested_at} IS NULL AND ${isContest}`))
      .returning({ id: profiles.id }),
    db
      .select({ id: profiles.id })
      .from(profiles)
      .where(sql`${profiles.verified_at} IS NULL AND ${profiles.id} IN (${selectLive(phone, me, now)})`),
    countCompletion(db, proof, sql`EXISTS (SELECT 1 FROM ${number_proofs} WHERE ${isProof} AND is_refused = 0)`),
    db.update(number_proofs).set({ is_refused: true, lookup: null }).where(isProof),
  ]);
  const asked = isContest ? contested : method === "missed_call" ? live : [];
  return { outcome: "in_use", asked: asked.map(({ id }) => id), isContest };
};

/** Whether somebody registered with the number between the statements of a transfer. */
const isTakenMeanwhile = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause)
    if (/UNIQUE constraint failed: (users|profiles)\.phone/.test(at.message)) return true;
  return false;
};

/**
 * Completes a proof: its person holds the number verified, and nobody else. An unverified holder loses it, and a
 * verified one who has not used the account for long. One transaction decides, so that of two people who prove a number
 * at the same moment one gets it.
 */
export const completeNumberProof = async (db: Db, proof: NumberProofRow, now = Date.now()): Promise<Completion> => {
  try {
    return await transferNumber(db, proof, now);
  } catch (error) {
    if (!isTakenMeanwhile(error)) throw error;
    return transferNumber(db, proof, now);
  }
};

const transferNumber = async (db: Db, proof: NumberProofRow, now: number): Promise<Completion> => {
  const { user_id: me, phone } = proof;
  const [[own], held] = await db.batch([
    db.select({ phone: ownNumber }).from(profiles).where(eq(profiles.id, me)),
    db
      .select({ id: profiles.id })
      .from(profiles)
      .where(and(eq(profiles.phone, phone), ne(profiles.id, me))),
  ]);
  const isOpen = sql`EXISTS (SELECT 1 FROM ${number_proofs} WHERE user_id = ${me} AND id = ${proof.id} AND is_refused = 0)`;
  // Whoever verifies the number they gave at registration has no other one than before.
  const isOwn = sql`(EXISTS (SELECT 1 FROM profiles WHERE id = ${me} AND ${holds(phone)})
    OR EXISTS (SELECT 1 FROM number_claims WHERE user_id = ${me} AND NOT is_former AND ${holds(phone, "number_claims")}))`;
  // Who claims a number and uses the account keeps it from weak proofs, too, but not from its holder's.
  const isUncontested = isWeakProof(proof.method)
    ? sql`(EXISTS (SELECT 1 FROM profiles WHERE id = ${me} AND ${holds(phone)})
      OR NOT EXISTS (${selectLive(phone, me, now)}))`
    : sql`1`;
  const isAllowed = sql`(${isOpen} AND ${proof.method === "vouching" ? isOwn : sql`1`} AND ${isUncontested} AND NOT EXISTS (
    SELECT 1 FROM profiles AS held WHERE ${holds(phone, "held")} AND held.id <> ${me}
      AND NOT ${givesUp(proof.method, now)}))`;
  const isAnother = sql`(${isAllowed} AND NOT ${isOwn})`;
  const released = held.flatMap(({ id }) => releaseNumber(db, id, phone, isAllowed, now));
  const taken = [
    insertNotices(db, me, "changed", isAnother),
    db
      .update(users)
      .set({ phone })
      .where(and(eq(users.id, me), isAllowed)),
    queueProfileChange(db, me),
    countCompletion(db, proof, isAllowed),
  ] as const;
  const results = await db.batch([
    db
      .select({ isOpen: sql<number>`${isOpen}` })
      .from(profiles)
      .where(eq(profiles.id, me)),
    ...released,
    ...taken,
    db
      .update(profiles)
      .set({ phone, verified_at: now, verified_by: proof.method, contested_at: null })
      .where(and(eq(profiles.id, me), isAllowed))
      .returning({ id: profiles.id }),
    // After the profile has the number: until then the claim says that it is the person's own.
    db.delete(number_claims).where(and(eq(number_claims.user_id, me), isAllowed)),
    db.delete(number_proofs).where(and(eq(number_proofs.user_id, me), eq(number_proofs.id, proof.id), isAllowed)),
  ]);
  const [before] = results[0] as { isOpen: number }[];
  const verified = results.at(-3) as unknown[];
  if (verified.length > 0) {
    const isChange = phone !== own?.phone;
    return { outcome: "verified", formerHolders: held.map(({ id }) => id), isChange };
  }
  const [other] = await db.all(sql`SELECT id FROM (${selectContenders(phone)}) WHERE id <> ${me} LIMIT 1`);
  return before?.isOpen && other ? refuseProof(db, proof, now) : { outcome: "expired" };
};
