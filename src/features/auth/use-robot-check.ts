import { useEffect, useRef, useState } from "react";
import { type Proof, proveNoRobot } from "../../lib/robot-check";

export type RobotStatus = "idle" | "working" | "done" | "waiting";

// A proof this close to its end is made anew: the request that carries it may take a while on a weak network.
const proofMarginMs = 30_000;

/** The robot box: the work starts when it is ticked and is asked for when the form is sent. */
export const useRobotCheck = () => {
  const [status, setStatus] = useState<RobotStatus>("idle");
  const underway = useRef<{ proof: Promise<Proof>; controller: AbortController }>(undefined);

  const stop = () => {
    underway.current?.controller.abort();
    underway.current = undefined;
    setStatus("idle");
  };

  const start = (): Promise<Proof> => {
    underway.current?.controller.abort();
    const controller = new AbortController();
    const proof = proveNoRobot(controller.signal);
    underway.current = { proof, controller };
    setStatus("working");
    const isCurrent = () => underway.current?.controller === controller;
    proof.then(
      () => isCurrent() && setStatus("done"),
      () => {
        if (!isCurrent()) return;
        underway.current = undefined;
        setStatus("waiting");
      },
    );
    return proof;
  };

  useEffect(() => {
    if (status !== "waiting") return;
    const again = () => void start();
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  });

  useEffect(() => () => underway.current?.controller.abort(), []);

  return {
    status,
    start: () => {
      void start(); // how it ends is told by `status`
    },
    /** Ticked before anybody listened. A form that was sent as the script took the page over has work under way already. */
    startEarly: () => {
      if (!underway.current) void start();
    },
    stop,
    /** A token for one request. Each is good once: tick on with `start` when the request was refused. */
    spend: async (): Promise<string> => {
      let proof = await (underway.current?.proof ?? start());
      if (proof.expiresAt - Date.now() < proofMarginMs) proof = await start();
      underway.current = undefined;
      return proof.token;
    },
  };
};
