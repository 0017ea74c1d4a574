import { createHmac, randomInt } from "node:crypto";
import { createChallenge, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { sql } from "drizzle-orm";
import * as v from "valibot";
import type { ProofPurpose } from "#contract/auth/proof-of-work.ts";
import type { Challenge } from "#contract/auth/sign-in.ts";
import { proofKeyRounds, proofKeysMax, proofValidMs } from "#contract/limits/authentication.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { used_challenges } from "#worker/db/schema.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { hasCheapWork } from "#worker/lib/limits/local-limits.ts";
import { countSpentProof, readProofLevel } from "./proof-difficulty.ts";

/**
 * Proof of work behind "I am not a robot" (ALTCHA, version 2): the solver derives keys for the counters 0, 1, 2 … until
 * one matches. The server draws that counter, so the work is bounded on both sides. All counters are equally likely, so
 * giving a challenge up early gains nothing.
 */
const algorithm = "PBKDF2/SHA-256";

const toAltchaOptions = (secret: string) => ({
  deriveKey,
  hmacSignatureSecret: secret,
  hmacKeySignatureSecret: `${secret}:key`,
});

/**
 * Keyed hash of a challenge's purpose. The client holds the challenge and must not be able to read or change its
 * purpose.
 */
const computePurposeBinding = (secret: string, { action, subject }: ProofPurpose): string =>
  createHmac("sha256", secret).update(`lisolo proof ${action} ${subject}`).digest("base64url");

export const createProofChallenge = async (
  secret: string,
  purpose: ProofPurpose,
  {
    level = 0,
    keys = proofKeysMax * 2 ** level,
    now = Date.now(),
  }: { level?: number; keys?: number; now?: number } = {},
): Promise<Challenge> => {
  const { parameters, signature } = await createChallenge({
    ...toAltchaOptions(secret),
    algorithm,
    cost: proofKeyRounds,
    counter: randomInt(keys),
    expiresAt: Math.floor((now + proofValidMs) / 1_000),
    data: { binding: computePurposeBinding(secret, purpose), level },
  });
  if (signature === undefined) throw new Error("ALTCHA returned a challenge without a signature");
  return { parameters: { ...parameters }, signature };
};

/** ALTCHA's payload: base64 of the JSON of the challenge as it was served, and its solution. */
const SolvedChallenge = v.object({
  challenge: v.object({
    parameters: v.object({
      algorithm: v.literal(algorithm),
      nonce: v.string(),
      salt: v.string(),
      cost: v.literal(proofKeyRounds),
      keyLength: v.number(),
      keyPrefix: v.string(),
      keySignature: v.string(),
      expiresAt: v.number(),
      data: v.object({ binding: v.string(), level: v.number() }),
    }),
    signature: v.string(),
  }),
  solution: v.object({ counter: v.number(), derivedKey: v.string() }),
});

const parseSolvedChallenge = (token: string): v.InferOutput<typeof SolvedChallenge> | undefined => {
  try {
    const parsed = v.safeParse(SolvedChallenge, JSON.parse(atob(token)));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined; // invalid base64 or JSON
  }
};

/** Challenge for a purpose at the present difficulty, to which `addedLevels` count. */
export const serveProofChallenge = async (
  c: AppContext,
  purpose: ProofPurpose,
  addedLevels = 0,
): Promise<Challenge> => {
  const level = (await readProofLevel(c, openDb(c.env), purpose)) + addedLevels;
  const options = hasCheapWork(c.env) ? { level, keys: 1 } : { level };
  return createProofChallenge(c.env.ALTCHA_HMAC_KEY, purpose, options);
};

type VerifiedProofOfWork = { signature: string; expiresAt: number; level: number };

/**
 * Verifies a proof of work for this purpose without any database access, so that an invalid proof costs processor time
 * only.
 */
const verifyProofOfWork = async (
  secret: string,
  token: string,
  purpose: ProofPurpose,
): Promise<VerifiedProofOfWork | undefined> => {
  const solved = parseSolvedChallenge(token);
  if (!solved) return undefined;
  const { signature, parameters } = solved.challenge;
  if (parameters.data.binding !== computePurposeBinding(secret, purpose)) return undefined;
  const { verified } = await verifySolution({ ...toAltchaOptions(secret), ...solved });
  return verified ? { signature, expiresAt: parameters.expiresAt * 1_000, level: parameters.data.level } : undefined;
};

/**
 * Redeems a proof of work once. Returns false if it is invalid, was used before, or is more than one level below the
 * current difficulty, to which `addedLevels` count. One level is tolerated because others of the same network may have
 * raised it while the challenge was being solved. `hashes`: how many password hashes it pays for; it makes the next
 * proofs harder for each of them.
 */
export const redeemProofOfWork = async (
  c: AppContext,
  token: string | undefined,
  purpose: ProofPurpose,
  { hashes = 1, addedLevels = 0 }: { hashes?: number; addedLevels?: number } = {},
): Promise<boolean> => {
  const proof = token === undefined ? undefined : await verifyProofOfWork(c.env.ALTCHA_HMAC_KEY, token, purpose);
  if (!proof) return false;
  const db = openDb(c.env);
  if (proof.level < (await readProofLevel(c, db, purpose)) + addedLevels - 1) return false;
  const { signature, expiresAt: expires_at } = proof;
  const inserted = await db
    .insert(used_challenges)
    .values({ signature, expires_at })
    .onConflictDoNothing()
    .returning({ signature: used_challenges.signature });
  if (inserted.length === 0) return false;
  await countSpentProof(c, db, purpose, hashes);
  return true;
};

/** Deletes up to 100 used challenges that have expired. */
export const purgeUsedChallenges = async (db: Db, now = Date.now()): Promise<void> => {
  await db.run(
    sql`DELETE FROM used_challenges WHERE signature IN
        (SELECT signature FROM used_challenges WHERE expires_at < ${now} LIMIT 100)`,
  );
};
