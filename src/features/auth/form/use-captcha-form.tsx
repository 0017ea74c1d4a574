import { useEffect, useEffectEvent, useRef } from "react";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { CaptchaCheckbox } from "./captcha-checkbox.tsx";
import type { FormProblem } from "./form-problem.ts";
import { type AuthFormOptions, getFormText, useAuthForm } from "./use-auth-form.ts";
import { useProofOfWork } from "./use-proof-of-work.ts";

/** Runs a request with a proof-of-work token. */
export type SendWithProof = <T>(send: (token: string) => Promise<T>) => Promise<T>;

type CaptchaOptions = {
  action: ChallengeRequest["action"];
  /** Name of the field with the phone number or e-mail address that the proof is bound to. */
  field: string;
  /** True if the typed text can be a phone number or address. */
  isComplete: (typed: string) => boolean;
  /** Subject of the proof, if it is not the trimmed text of the field. */
  toSubject?: (typed: string) => string;
};

const trim = (typed: string): string => typed.trim();

/** Authentication form with a captcha checkbox. The `prove` argument of `submit` waits for the proof of work. */
export const useCaptchaForm = (
  { action, field, isComplete, toSubject = trim }: CaptchaOptions,
  submit: (data: FormData, prove: SendWithProof) => Promise<FormProblem | undefined>,
  options?: AuthFormOptions,
) => {
  const proof = useProofOfWork();
  const input = useRef<HTMLInputElement>(null);

  const authForm = useAuthForm(async (data) => {
    const purpose = { action, subject: toSubject(getFormText(data, field)) };
    try {
      return await submit(data, (send) => proof.prove(purpose, send));
    } catch (error) {
      if (isComplete(purpose.subject)) proof.start(purpose);
      throw error;
    }
  }, options);

  /** Starts the proof of work once the captcha is checked and its subject is complete. */
  const startProof = () => {
    const subject = toSubject(authForm.form.current?.querySelector<HTMLInputElement>(`#${field}`)?.value ?? "");
    if (input.current?.checked && isComplete(subject)) proof.start({ action, subject });
  };

  // Triggers: checked before the script loaded, network restored, subject changed.
  const onTrigger = useEffectEvent(startProof);
  useEffect(() => {
    const trigger = () => onTrigger();
    const form = authForm.form.current;
    trigger();
    addEventListener("online", trigger);
    form?.addEventListener("change", trigger);
    return () => {
      removeEventListener("online", trigger);
      form?.removeEventListener("change", trigger);
    };
  }, [authForm.form]);

  const captcha = (
    <CaptchaCheckbox
      input={input}
      status={proof.status}
      error={authForm.errorOf("robot")}
      onChange={(isChecked) => {
        authForm.clearProblem("robot");
        if (isChecked) startProof();
        else proof.stop();
      }}
    />
  );
  return { ...authForm, captcha };
};
