import { createChallenge, randomInt, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { sql } from "drizzle-orm";
import * as v from "valibot";
import type { Challenge } from "../../contract/auth";
import type { Db } from "../db/client";
import { used_challenges } from "../db/schema";

/**
 * The work behind "I am not a robot": the solver derives keys for the counters 0, 1, 2 … until one matches.
 * The server knows where that is, so the work is bounded on both sides (no unlucky phone waits for a
 * minute). Between 0.07 and 0.4 s on two busy cores, so about a second on a weak phone.
 */
const algorithm = "PBKDF2/SHA-256";
const iterations = 2_000;
const leastCounter = 100;
const mostCounter = 200;
const challengeMs = 5 * 60_000;

const options = (secret: string) => ({
  deriveKey,
  hmacSignatureSecret: secret,
  hmacKeySignatureSecret: `${secret}:key`,
});

export const makeChallenge = async (secret: string, now = Date.now()): Promise<Challenge> => {
  const { parameters, signature } = await createChallenge({
    ...options(secret),
    algorithm,
    cost: iterations,
    counter: randomInt(mostCounter, leastCounter),
    expiresAt: Math.floor((now + challengeMs) / 1_000),
  });
  if (signature === undefined) throw new Error("a challenge must be signed");
  return { parameters: { ...parameters }, signature };
};

/** ALTCHA's payload: base64 of the JSON of the challenge as it was served, and its solution. */
const Solved = v.object({
  challenge: v.object({
    parameters: v.object({
      algorithm: v.literal(algorithm),
      nonce: v.string(),
      salt: v.string(),
      cost: v.literal(iterations),
      keyLength: v.number(),
      keyPrefix: v.string(),
      keySignature: v.string(),
      expiresAt: v.number(),
    }),
    signature: v.string(),
  }),
  solution: v.object({ counter: v.number(), derivedKey: v.string() }),
});

const readSolved = (token: string): v.InferOutput<typeof Solved> | undefined => {
  try {
    const parsed = v.safeParse(Solved, JSON.parse(atob(token)));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined; // no base64 or no JSON
  }
};

/** Whether the token proves work that nobody has shown before; it is used up by asking. */
export const redeemChallenge = async (db: Db, secret: string, token: string | undefined): Promise<boolean> => {
  const solved = token === undefined ? undefined : readSolved(token);
  if (!solved) return false;
  const { verified } = await verifySolution({ ...options(secret), ...solved });
  if (!verified) return false;
  const { signature, parameters } = solved.challenge;
  const first = await db
    .insert(used_challenges)
    .values({ signature, expires_at: parameters.expiresAt * 1_000 })
    .onConflictDoNothing()
    .returning({ signature: used_challenges.signature });
  return first.length === 1;
};

/** Removes proofs that have expired and so need not be remembered, a few at a time. */
export const forgetOldChallenges = async (db: Db, now = Date.now()): Promise<void> => {
  await db.run(
    sql`DELETE FROM used_challenges WHERE signature IN
        (SELECT signature FROM used_challenges WHERE expires_at < ${now} LIMIT 100)`,
  );
};
