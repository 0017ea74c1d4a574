import { useEffect, useEffectEvent, useRef } from "react";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import type { Problem } from "./form-problem.ts";
import { RobotBox } from "./robot-box.tsx";
import { type EntryOptions, textOf, useEntryForm } from "./use-entry-form.ts";
import { useRobotCheck } from "./use-robot-check.ts";

/** Carries out a request with a proof of work. */
export type Prove = <T>(send: (token: string) => Promise<T>) => Promise<T>;

type Guard = {
  action: ChallengeRequest["action"];
  /** The field whose number or address the proof is for. */
  field: string;
  /** Whether what is typed there can be one. */
  isComplete: (typed: string) => boolean;
};

/** An entry form with a robot box. `prove` waits for the work behind it. */
export const useGuardedForm = (
  { action, field, isComplete }: Guard,
  submit: (data: FormData, prove: Prove) => Promise<Problem | undefined>,
  options?: EntryOptions,
) => {
  const robot = useRobotCheck();
  const input = useRef<HTMLInputElement>(null);

  const entry = useEntryForm(async (data) => {
    const purpose = { action, subject: textOf(data, field).trim() };
    try {
      return await submit(data, (send) => robot.prove(purpose, send));
    } catch (error) {
      if (isComplete(purpose.subject)) robot.start(purpose);
      throw error;
    }
  }, options);

  /** Begins once the box is ticked and what it is for is typed. */
  const begin = () => {
    const typed = entry.form.current?.querySelector<HTMLInputElement>(`#${field}`)?.value.trim() ?? "";
    if (input.current?.checked && isComplete(typed)) robot.start({ action, subject: typed });
  };

  // Ticked before the script arrived; the network is back; the number was changed.
  const beginAgain = useEffectEvent(begin);
  useEffect(() => {
    const again = () => beginAgain();
    const form = entry.form.current;
    again();
    addEventListener("online", again);
    form?.addEventListener("change", again);
    return () => {
      removeEventListener("online", again);
      form?.removeEventListener("change", again);
    };
  }, [entry.form]);

  const box = (
    <RobotBox
      input={input}
      status={robot.status}
      error={entry.errorOf("robot")}
      onChange={(isTicked) => {
        entry.clear("robot");
        if (isTicked) begin();
        else robot.stop();
      }}
    />
  );
  return { ...entry, box };
};
