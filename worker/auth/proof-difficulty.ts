import { inArray, sql } from "drizzle-orm";
import type { ProofPurpose } from "#contract/auth/proof-of-work.ts";
import { proofIntervalMs, proofLevelMax, proofsFree, proofsPerLevel } from "#contract/limits.ts";
import type { Db } from "#worker/db/client.ts";
import { rate_limits } from "#worker/db/schema.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { networkOf } from "#worker/lib/limits/client-limits.ts";
import { hashKey } from "#worker/lib/limits/hashed-key.ts";
import { spentProofs } from "#worker/lib/limits/rate-limit.ts";

/**
 * Difficulty of a proof of work. It rises with the proofs that were spent lately by the same network, and with those spent
 * on signing in to the same number from anywhere: a carrier's whole network may stand behind one address, so a busy one
 * works longer and is never refused. Only spent proofs count: whoever just asks for challenges makes it dearer for nobody.
 */
const keysOf = (c: AppContext, { action, subject }: ProofPurpose): string[] => {
  const network = `${spentProofs.byAddress}:${hashKey(c.env, networkOf(c.req.raw))}`;
  return action === "sign_in" ? [network, `${spentProofs.byAccount}:${hashKey(c.env, subject)}`] : [network];
};

/** Proofs beyond the highest level count no more: it goes down as soon as fewer are spent. */
const countedMax = proofsFree + proofLevelMax * proofsPerLevel;

const toLevel = (emptyAt: number, now: number): number => {
  const spent = Math.max(0, emptyAt - now) / proofIntervalMs;
  return Math.min(proofLevelMax, Math.max(0, Math.ceil((spent - proofsFree) / proofsPerLevel)));
};

/** Level of a challenge made now: each doubles the work of the one below. */
export const readProofLevel = async (
  c: AppContext,
  db: Db,
  purpose: ProofPurpose,
  now = Date.now(),
): Promise<number> => {
  const rows = await db
    .select({ full_at: rate_limits.full_at })
    .from(rate_limits)
    .where(inArray(rate_limits.key, keysOf(c, purpose)));
  return Math.max(0, ...rows.map(({ full_at }) => toLevel(full_at, now)));
};

/** Counts a spent proof. Kept as in `takeToken`, as the time at which nothing counts any more. */
export const countProof = async (c: AppContext, db: Db, purpose: ProofPurpose, now = Date.now()): Promise<void> => {
  await db
    .insert(rate_limits)
    .values(keysOf(c, purpose).map((key) => ({ key, full_at: now + proofIntervalMs })))
    .onConflictDoUpdate({
      target: rate_limits.key,
      set: {
        full_at: sql`min(max(${rate_limits.full_at}, ${now}) + ${proofIntervalMs}, ${now + countedMax * proofIntervalMs})`,
      },
    });
};
