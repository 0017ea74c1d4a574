import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { Challenge } from "#contract/auth/sign-in.ts";
import { proofSolveMs } from "#contract/limits/authentication.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";

/**
 * Proof of work behind "I am not a robot", for one action with one phone number or address. The browser derives keys in
 * its own threads (WebCrypto), so the page stays responsive without a worker.
 */
export type ProofOfWork = { token: string; expiresAt: number };

/** Fetches a challenge and solves it. Throws `ApiRequestError`, also if it was not solved in time. */
export const solveProofOfWork = async (purpose: ChallengeRequest, signal: AbortSignal): Promise<ProofOfWork> =>
  solveServedChallenge(await sendHttpRequest("POST", "/api/auth/challenge", purpose, { signal }), signal);

/** Solves the challenge in an answer of the server. */
export const solveServedChallenge = async (answer: unknown, signal: AbortSignal): Promise<ProofOfWork> => {
  const challenge = parseResponse(Challenge, answer);
  const controller = new AbortController();
  signal.addEventListener("abort", () => controller.abort());
  const solution = await solveChallenge({
    challenge,
    deriveKey,
    controller,
    timeout: proofSolveMs,
  });
  signal.throwIfAborted();
  if (!solution) throw new ApiRequestError("captcha_failed", 0);
  const { expiresAt } = challenge.parameters;
  return {
    token: btoa(JSON.stringify({ challenge, solution })),
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt * 1_000,
  };
};
