import { and, eq, type SQL, sql } from "drizzle-orm";
import { sendsCode } from "#contract/auth/number.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { numberCodesOfRange, numberCodesPerCompletion, numberRangeDigits } from "#contract/limits/phone-numbers.ts";
import { number_proof_counts as counts } from "#worker/db/account-schema.ts";
import type { Db } from "#worker/db/client.ts";
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

/** Counts a started proof. False, without counting, if the day's budget is used up or the range is stopped. */
export const takeProofStart = async (db: Db, adapter: NumberAdapter, phone: string, now: number): Promise<boolean> => {
  const day = toDay(now);
  const range = toRange(phone);
  const isPlausible = sendsCode(adapter.method)
    ? sql`${counts.started} < ${numberCodesOfRange} OR ${counts.completed} * ${numberCodesPerCompletion} >= ${counts.started}`
    : sql`1`;
  const [ofAll, ofRange] = await db.batch([
    countStart(db, { adapter: adapter.id, range: allNumbers, day }, sql`${counts.started} < ${adapter.per_day}`),
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
