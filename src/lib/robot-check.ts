import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { Challenge } from "../../contract/auth";
import { ApiFailure, exchange } from "./exchange";
import { readAnswer } from "./read-answer";

/**
 * The work behind "I am not a robot". The browser derives keys in threads of its own (WebCrypto), so that the
 * page stays responsive without a worker of ours.
 */
export type Proof = { token: string; expiresAt: number };

const challengeTimeoutMs = 60_000;

/** Fetches a challenge and solves it. Throws `ApiFailure`, also when it could not be solved in a minute. */
export const proveNoRobot = async (signal: AbortSignal): Promise<Proof> => {
  const challenge = readAnswer(Challenge, await exchange("GET", "/api/auth/challenge", undefined, { signal }));
  const controller = new AbortController();
  signal.addEventListener("abort", () => controller.abort());
  const solution = await solveChallenge({
    challenge,
    deriveKey,
    controller,
    timeout: challengeTimeoutMs,
  });
  signal.throwIfAborted();
  if (!solution) throw new ApiFailure("captcha_failed", 0);
  const { expiresAt } = challenge.parameters;
  return {
    token: btoa(JSON.stringify({ challenge, solution })),
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt * 1_000,
  };
};
