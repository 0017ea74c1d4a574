import { useEffect, useEffectEvent, useRef } from "react";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { CaptchaCheckbox } from "./captcha-checkbox.tsx";
import type { FormProblem } from "./form-problem.ts";
import { type AuthFormOptions, getFormText, useAuthForm } from "./use-auth-form.ts";
import { useProofOfWork } from "./use-proof-of-work.ts";

/** Carries out a request with a proof of work. */
export type SendWithProof = <T>(send: (token: string) => Promise<T>) => Promise<T>;

type CaptchaOptions = {
  action: ChallengeRequest["action"];
  /** The field whose number or address the proof is for. */
  field: string;
  /** Whether what is typed there can be one. */
  isComplete: (typed: string) => boolean;
};

/** An entry form with a robot box. `prove` waits for the work behind it. */
export const useCaptchaForm = (
  { action, field, isComplete }: CaptchaOptions,
  submit: (data: FormData, prove: SendWithProof) => Promise<FormProblem | undefined>,
  options?: AuthFormOptions,
) => {
  const robot = useProofOfWork();
  const input = useRef<HTMLInputElement>(null);

  const entry = useAuthForm(async (data) => {
    const purpose = { action, subject: getFormText(data, field).trim() };
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
    <CaptchaCheckbox
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
