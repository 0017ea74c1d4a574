import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { Challenge } from "#contract/auth/auth.ts";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { proofSolveMs } from "#contract/limits.ts";
import { ApiFailure, exchange } from "#lib/http/http-request.ts";
import { readAnswer } from "#lib/http/parse-response.ts";

/**
 * The work behind "I am not a robot", for one action with one number or address. The browser derives keys in threads of
 * its own (WebCrypto), so that the page stays responsive without a worker of ours.
 */
export type Proof = { token: string; expiresAt: number };

/** Fetches a challenge and solves it. Throws `ApiFailure`, also when it could not be solved in time. */
export const proveNoRobot = async (purpose: ChallengeRequest, signal: AbortSignal): Promise<Proof> => {
  const challenge = readAnswer(Challenge, await exchange("POST", "/api/auth/challenge", purpose, { signal }));
  const controller = new AbortController();
  signal.addEventListener("abort", () => controller.abort());
  const solution = await solveChallenge({
    challenge,
    deriveKey,
    controller,
    timeout: proofSolveMs,
  });
  signal.throwIfAborted();
  if (!solution) throw new ApiFailure("captcha_failed", 0);
  const { expiresAt } = challenge.parameters;
  return {
    token: btoa(JSON.stringify({ challenge, solution })),
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt * 1_000,
  };
};
