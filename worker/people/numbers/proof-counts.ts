import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { sendsCode } from "#contract/auth/number.ts";
import { dayMs } from "#contract/limits/durations.ts";
import {
  budgetLevels,
  foreignBudgetShare,
  numberCodesOfRange,
  numberCodesPerCompletion,
  numberRangeDigits,
} from "#contract/limits/phone-numbers.ts";
import type { Db } from "#worker/db/client.ts";
import { number_proof_counts as counts } from "#worker/db/security-schema.ts";
import type { NumberAdapter } from "#worker/lib/number-adapters.ts";

/**
 * Daily budgets of the adapters, and the stop for ranges of numbers that are sent codes which nobody types: somebody
 * earns from the messages to them (SMS pumping).
 */

const allNumbers = "";

const toDay = (at: number): number => Math.floor(at / dayMs);
const toRange = (phone: string): string => phone.slice(0, -numberRangeDigits);

/** Statement that counts a started proof, unless `isAllowed` (over the row so far) refuses it. */
const countStart = (db: Db, key: { adapter: string; range: string; day: number }, isAllowed: SQL) =>
  db
    .insert(counts)
    .values({ ...key, started: 1 })
    .onConflictDoUpdate({
      target: [counts.day, counts.adapter, counts.range],
      set: { started: sql`${counts.started} + 1` },
      setWhere: isAllowed,
    })
    .returning({ started: counts.started });

const hasKey = (adapter: string, range: string, day: number): SQL | undefined =>
  and(eq(counts.adapter, adapter), eq(counts.range, range), eq(counts.day, day));

/** Levels of proof of work that a code needs more, as the budgets of these adapters are being used up. */
export const readBudgetLevels = async (db: Db, adapters: readonly NumberAdapter[], now: number): Promise<number> => {
  const ids = adapters.map(({ id }) => id);
  const rows = await db
    .select({ adapter: counts.adapter, started: counts.started })
    .from(counts)
    .where(and(inArray(counts.adapter, ids), eq(counts.range, allNumbers), eq(counts.day, toDay(now))));
  const shares = adapters.map(
    ({ id, per_day }) => (rows.find(({ adapter }) => adapter === id)?.started ?? 0) / per_day,
  );
  return budgetLevels.filter((from) => shares.some((share) => share >= from)).length;
};

/**
 * Counts a started proof. False, without counting, if the day's budget is used up or the range is stopped. A part of
 * the budget is kept for people's own numbers.
 */
export const takeProofStart = async (
  db: Db,
  adapter: NumberAdapter,
  { phone, isOwn }: { phone: string; isOwn: boolean },
  now: number,
): Promise<boolean> => {
  const budget = isOwn ? adapter.per_day : Math.ceil(adapter.per_day * foreignBudgetShare);
  const day = toDay(now);
  const range = toRange(phone);
  const isPlausible = sendsCode(adapter.method)
    ? sql`${counts.started} < ${numberCodesOfRange} OR ${counts.completed} * ${numberCodesPerCompletion} >= ${counts.started}`
    : sql`1`;
  const [ofAll, ofRange] = await db.batch([
    countStart(db, { adapter: adapter.id, range: allNumbers, day }, sql`${counts.started} < ${budget}`),
    countStart(db, { adapter: adapter.id, range, day }, isPlausible),
  ]);
  if (ofAll.length > 0 && ofRange.length > 0) return true;
  const reason = ofAll.length > 0 ? `range ${range} has too few completed proofs` : "the budget of the day is used up";
  console.warn(`${adapter.id} verifies no number: ${reason}`);
  const taken = ofAll.length > 0 ? allNumbers : range;
  if (ofAll.length > 0 || ofRange.length > 0)
    await db
      .update(counts)
      .set({ started: sql`${counts.started} - 1` })
      .where(hasKey(adapter.id, taken, day));
  return false;
};

/** Statement that counts the completion of a proof, on the day it was started. */
export const countCompletion = (
  db: Db,
  { adapter, phone, created_at }: { adapter: string; phone: string; created_at: number },
  condition: SQL,
) =>
  db
    .update(counts)
    .set({ completed: sql`${counts.completed} + 1` })
    .where(and(hasKey(adapter, toRange(phone), toDay(created_at)), condition));
