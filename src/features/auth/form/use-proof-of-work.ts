import { useEffect, useRef, useState } from "react";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { type ProofOfWork, solveProofOfWork } from "#lib/session/proof-of-work.ts";

export type ProofOfWorkStatus = "idle" | "working" | "done" | "waiting";

// A proof this close to its expiry is renewed: the request that carries it may take a while on a weak network.
const proofRenewalMarginMs = 30_000;
// Other clients of the same network may raise the difficulty meanwhile; the server then requires a harder proof.
const maxProofAttempts = 3;

const isSameChallenge = (a: ChallengeRequest, b: ChallengeRequest): boolean =>
  a.action === b.action && a.subject === b.subject;

/**
 * Proof of work behind the captcha checkbox. It starts when the box is checked and is awaited when the form is
 * submitted. A proof is bound to a phone number or address; changing that requires a new proof.
 */
export const useProofOfWork = () => {
  const [status, setStatus] = useState<ProofOfWorkStatus>("idle");
  const running = useRef<{ purpose: ChallengeRequest; proof: Promise<ProofOfWork>; controller: AbortController }>(
    undefined,
  );

  const stop = () => {
    running.current?.controller.abort();
    running.current = undefined;
    setStatus("idle");
  };

  const start = (purpose: ChallengeRequest): Promise<ProofOfWork> => {
    running.current?.controller.abort();
    const controller = new AbortController();
    const proof = solveProofOfWork(purpose, controller.signal);
    running.current = { purpose, proof, controller };
    setStatus("working");
    const isCurrent = () => running.current?.controller === controller;
    proof.then(
      () => isCurrent() && setStatus("done"),
      (error: unknown) => {
        if (!isCurrent()) return;
        running.current = undefined;
        setStatus(toErrorCode(error) === "offline" ? "waiting" : "idle");
      },
    );
    return proof;
  };

  const consumeToken = async (purpose: ChallengeRequest): Promise<string> => {
    const current = running.current;
    let proof = await (current && isSameChallenge(current.purpose, purpose) ? current.proof : start(purpose));
    if (proof.expiresAt - Date.now() < proofRenewalMarginMs) proof = await start(purpose);
    running.current = undefined;
    return proof.token;
  };

  useEffect(() => () => running.current?.controller.abort(), []);

  return {
    status,
    /** Starts the work unless it is running for the same subject. `status` reports the result. */
    start: (purpose: ChallengeRequest) => {
      if (!running.current || !isSameChallenge(running.current.purpose, purpose)) void start(purpose);
    },
    stop,
    /** Runs a request with a token, and retries with a new proof if the server requires more work. */
    prove: async <T>(purpose: ChallengeRequest, send: (token: string) => Promise<T>): Promise<T> => {
      for (let tries = 1; ; tries++) {
        try {
          return await send(await consumeToken(purpose));
        } catch (error) {
          if (toErrorCode(error) !== "captcha_failed" || tries === maxProofAttempts) throw error;
        }
      }
    },
  };
};
