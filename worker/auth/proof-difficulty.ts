import { sql } from "drizzle-orm";
import { proofIntervalMs, proofLevelMax, proofsFree, proofsPerLevel } from "../../contract/limits";
import type { Db } from "../db/client";
import { rate_limits } from "../db/schema";
import type { AppContext } from "../lib/app";
import { networkOf } from "../lib/client-limits";
import { hashKey } from "../lib/hashed-key";

/**
 * Difficulty of the proofs of work a network has to bring. It rises with the proofs the network has spent lately: a
 * carrier's whole network may stand behind one address, so a busy one works longer and is never refused. Only spent
 * proofs count: whoever just asks for challenges makes it dearer for nobody.
 */
const keyOf = (c: AppContext): string => `spent_proofs_by_address:${hashKey(c.env, networkOf(c.req.raw))}`;

const toLevel = (emptyAt: number | undefined, now: number): number => {
  const spent = Math.max(0, (emptyAt ?? now) - now) / proofIntervalMs;
  return Math.min(proofLevelMax, Math.max(0, Math.ceil((spent - proofsFree) / proofsPerLevel)));
};

/** Level of a challenge made now: each doubles the work of the one below. */
export const readProofLevel = async (c: AppContext, db: Db, now = Date.now()): Promise<number> => {
  const [row] = await db
    .select({ full_at: rate_limits.full_at })
    .from(rate_limits)
    .where(sql`${rate_limits.key} = ${keyOf(c)}`);
  return toLevel(row?.full_at, now);
};

/** Counts a spent proof. Kept as in `takeToken`, as the time at which nothing counts any more. */
export const countProof = async (c: AppContext, db: Db, now = Date.now()): Promise<void> => {
  await db
    .insert(rate_limits)
    .values({ key: keyOf(c), full_at: now + proofIntervalMs })
    .onConflictDoUpdate({
      target: rate_limits.key,
      set: { full_at: sql`max(${rate_limits.full_at}, ${now}) + ${proofIntervalMs}` },
    });
};
