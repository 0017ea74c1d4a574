import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { passwordMaxLength } from "#contract/limits/authentication.ts";
import type { TextKey } from "#i18n/setup.ts";
import { t } from "#i18n/setup.ts";
import { type RestorableForm, restoreFormInput, saveFormInput } from "#lib/browser/form-restore.ts";
import { consumeEarlySubmit } from "./early-input.ts";
import { type FormProblem, toFormProblem } from "./form-problem.ts";

/** Interpolation values of problem texts. */
const problemTextValues = { max: passwordMaxLength };

/** Returns the raw text of a form field. */
export const getFormText = (data: FormData, name: string): string => String(data.get(name) ?? "");

export type AuthFormOptions = {
  /** Maps an error of `submit` to a problem; default `toFormProblem`. */
  toProblem?: (error: unknown) => FormProblem;
  /** Title of an error of `submit` that belongs to no field. */
  failureTitle?: TextKey;
  /** Name under which typed input is saved and restored after a reload. */
  restoreKey?: RestorableForm;
};

/**
 * Shared logic of the authentication forms: one submission at a time; its problem shown once, at the field, which gets
 * the focus, or above the submit button; replay of a submission made before the script loaded; typed input
 * restored after a reload. `submit` returns a problem with the input, or rejects if the request failed.
 */
export const useAuthForm = (
  submit: (data: FormData) => Promise<FormProblem | undefined>,
  { toProblem = toFormProblem, failureTitle, restoreKey }: AuthFormOptions = {},
) => {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<FormProblem & { title?: TextKey | undefined }>();

  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>(`#${problem.field}`)?.focus();
  }, [problem]);

  const showProblem = (found: FormProblem, title?: TextKey) => setProblem({ ...found, title });
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const found = await submit(new FormData(event.currentTarget));
      if (found) showProblem(found);
    } catch (error) {
      showProblem(toProblem(error), failureTitle);
    } finally {
      setBusy(false);
    }
  };

  const saveInput = () => {
    if (restoreKey && form.current) saveFormInput(restoreKey, form.current);
  };

  const onMount = useEffectEvent(() => {
    if (!form.current) return;
    // Submitted before restoring: only input that the user saw is sent.
    if (consumeEarlySubmit(form.current)) form.current.requestSubmit();
    if (restoreKey) restoreFormInput(restoreKey, form.current);
    saveInput();
  });
  useEffect(() => onMount(), []);

  return {
    form,
    isBusy,
    onSubmit,
    onInput: saveInput,
    /** Shows a problem; one without a field appears above the submit button, below its title. */
    showProblem,
    errorTitle: problem?.title && t(problem.title),
    clearProblem: (field: string) => setProblem((shown) => (shown?.field === field ? undefined : shown)),
    errorOf: (field: string): string | undefined =>
      problem?.field === field ? t(problem.text, { ...problemTextValues, ...problem.values }) : undefined,
  };
};
