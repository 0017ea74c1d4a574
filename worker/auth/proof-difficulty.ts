import { inArray, sql } from "drizzle-orm";
import type { ProofPurpose } from "#contract/auth/proof-of-work.ts";
import { proofDecayMs, proofLevelMax, proofsFree, proofsPerLevel } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { rate_limits } from "#worker/db/schema.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { toWideNetwork } from "#worker/lib/limits/client-limits.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { spentProofBuckets } from "#worker/lib/limits/rate-limit.ts";

/**
 * Counters behind the difficulty of a proof of work. It rises with the proofs recently spent by the same network and,
 * for sign-in, on the same number from anywhere. A carrier's whole network may share one address, so a busy address
 * works longer and is never refused. Only spent proofs count: requesting challenges makes nothing harder for others.
 */
const toSpentProofKeys = (c: AppContext, { action, subject }: ProofPurpose): string[] => {
  const network = `${spentProofBuckets.byAddress}:${hashLimitKey(c.env, toWideNetwork(c.req.raw))}`;
  return action === "sign_in" ? [network, `${spentProofBuckets.byAccount}:${hashLimitKey(c.env, subject)}`] : [network];
};

/** Proofs beyond the highest level are not counted, so that the level falls as soon as fewer are spent. */
const countedProofsMax = proofsFree + proofLevelMax * proofsPerLevel;

const toLevel = (emptyAt: number, now: number): number => {
  const spent = Math.max(0, emptyAt - now) / proofDecayMs;
  return Math.min(proofLevelMax, Math.max(0, Math.ceil((spent - proofsFree) / proofsPerLevel)));
};

/** Level of a challenge created now, without what a purpose adds. Each level doubles the work of the one below. */
export const readProofLevel = async (
  c: AppContext,
  db: Db,
  purpose: ProofPurpose,
  now = Date.now(),
): Promise<number> => {
  const rows = await db
    .select({ full_at: rate_limits.full_at })
    .from(rate_limits)
    .where(inArray(rate_limits.key, toSpentProofKeys(c, purpose)));
  return Math.max(0, ...rows.map(({ full_at }) => toLevel(full_at, now)));
};

/** Counts a spent proof, as many times as the hashes it paid for. Stored as in `takeToken`: the time at which the counter is empty again. */
export const countSpentProof = async (
  c: AppContext,
  db: Db,
  purpose: ProofPurpose,
  hashes: number,
  now = Date.now(),
): Promise<void> => {
  const spentMs = hashes * proofDecayMs;
  await db
    .insert(rate_limits)
    .values(toSpentProofKeys(c, purpose).map((key) => ({ key, full_at: now + spentMs })))
    .onConflictDoUpdate({
      target: rate_limits.key,
      set: {
        full_at: sql`min(max(${rate_limits.full_at}, ${now}) + ${spentMs}, ${now + countedProofsMax * proofDecayMs})`,
      },
    });
};
