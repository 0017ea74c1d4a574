import { useEffect, useEffectEvent, useRef } from "react";
import type { Problem } from "./problem";
import { RobotBox } from "./robot-box";
import { type EntryOptions, useEntryForm } from "./use-entry-form";
import { useRobotCheck } from "./use-robot-check";

/** An entry form with a robot box. `takeProof` waits for the work behind it; what comes is good for one request. */
export const useGuardedForm = (
  submit: (data: FormData, takeProof: () => Promise<string>) => Promise<Problem | undefined>,
  options?: EntryOptions,
) => {
  const robot = useRobotCheck();
  const input = useRef<HTMLInputElement>(null);

  // Ticked before the script arrived. It stands before the form, which carries out what was sent by then.
  const startEarly = useEffectEvent(() => {
    if (input.current?.checked) robot.startEarly();
  });
  useEffect(() => startEarly(), []);

  const entry = useEntryForm(async (data) => {
    try {
      return await submit(data, robot.spend);
    } catch (error) {
      robot.start();
      throw error;
    }
  }, options);
  const box = (
    <RobotBox
      input={input}
      status={robot.status}
      error={entry.errorOf("robot")}
      onChange={(isTicked) => {
        entry.clear("robot");
        if (isTicked) robot.start();
        else robot.stop();
      }}
    />
  );
  return { ...entry, box };
};
