import { useEffect, useRef, useState } from "react";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { type ProofOfWork, solveProofOfWork } from "#lib/session/proof-of-work.ts";

export type ProofOfWorkStatus = "idle" | "working" | "done" | "waiting";

// A proof this close to its end is made anew: the request that carries it may take a while on a weak network.
const proofRenewalMarginMs = 30_000;
// Others of the same network may raise the work meanwhile; then the server asks for more of it.
const maxProofAttempts = 3;

const isSameChallenge = (one: ChallengeRequest, other: ChallengeRequest): boolean =>
  one.action === other.action && one.subject === other.subject;

/**
 * The robot box: the work starts when it is ticked and is asked for when the form is sent. It is good for the number or
 * address it was done for; another one that is typed afterwards takes another proof.
 */
export const useProofOfWork = () => {
  const [status, setStatus] = useState<ProofOfWorkStatus>("idle");
  const underway = useRef<{ purpose: ChallengeRequest; proof: Promise<ProofOfWork>; controller: AbortController }>(
    undefined,
  );

  const stop = () => {
    underway.current?.controller.abort();
    underway.current = undefined;
    setStatus("idle");
  };

  const start = (purpose: ChallengeRequest): Promise<ProofOfWork> => {
    underway.current?.controller.abort();
    const controller = new AbortController();
    const proof = solveProofOfWork(purpose, controller.signal);
    underway.current = { purpose, proof, controller };
    setStatus("working");
    const isCurrent = () => underway.current?.controller === controller;
    proof.then(
      () => isCurrent() && setStatus("done"),
      (error: unknown) => {
        if (!isCurrent()) return;
        underway.current = undefined;
        setStatus(toErrorCode(error) === "offline" ? "waiting" : "idle");
      },
    );
    return proof;
  };

  const take = async (purpose: ChallengeRequest): Promise<string> => {
    const begun = underway.current;
    let proof = await (begun && isSameChallenge(begun.purpose, purpose) ? begun.proof : start(purpose));
    if (proof.expiresAt - Date.now() < proofRenewalMarginMs) proof = await start(purpose);
    underway.current = undefined;
    return proof.token;
  };

  useEffect(() => () => underway.current?.controller.abort(), []);

  return {
    status,
    /** Starts the work unless it is under way for the same. How it ends is told by `status`. */
    start: (purpose: ChallengeRequest) => {
      if (!underway.current || !isSameChallenge(underway.current.purpose, purpose)) void start(purpose);
    },
    stop,
    /** Carries out a request with a proof, and again with another one where the server wants more work. */
    prove: async <T>(purpose: ChallengeRequest, send: (token: string) => Promise<T>): Promise<T> => {
      for (let tries = 1; ; tries++) {
        try {
          return await send(await take(purpose));
        } catch (error) {
          if (toErrorCode(error) !== "captcha_failed" || tries === maxProofAttempts) throw error;
        }
      }
    },
  };
};
