import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { openToast } from "#components/overlays/toast.tsx";
import { passwordMaxLength } from "#contract/limits.ts";
import type { TextKey } from "#i18n/setup.ts";
import { t } from "#i18n/setup.ts";
import { type RestorableForm, restoreFormInput, saveFormInput } from "#lib/browser/form-restore.ts";
import { consumeEarlySubmit } from "./early-input.ts";
import { type FormProblem, toFormProblem } from "./form-problem.ts";

/** Numbers that texts of problems may name. */
const problemTextValues = { max: passwordMaxLength };

/** What was typed into the field of that name, as it was typed. */
export const getFormText = (data: FormData, name: string): string => String(data.get(name) ?? "");

export type AuthFormOptions = {
  /** What a failure says, where a form has words of its own for some. */
  toProblem?: (error: unknown) => FormProblem;
  /** What stands over it. */
  failureTitle?: TextKey;
  /** Under which name the form is kept until it is sent. */
  restoreKey?: RestorableForm;
};

/**
 * What the forms share: one submission at a time, the one problem there is shown as a toast and beside its field, the
 * focus led there, heard once, a submission from before the script arrived carried out now, and what was typed before the page
 * was loaded anew put back. `submit` answers the problem with what was typed, and rejects where it failed.
 */
export const useAuthForm = (
  submit: (data: FormData) => Promise<FormProblem | undefined>,
  { toProblem = toFormProblem, failureTitle: failed = "common.error", restoreKey }: AuthFormOptions = {},
) => {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<FormProblem>();

  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>(`#${problem.field}`)?.focus();
  }, [problem]);

  const takeBackToast = useRef(() => {});
  const refuse = (found: FormProblem, title: TextKey = "common.error") => {
    const place = form.current?.querySelector<HTMLElement>(`#${found.field}`);
    // Whoever is led there hears it there; who is there already, or is led nowhere, by the toast.
    const isLed = found.field === "form" || (place != null && place !== document.activeElement);
    setProblem(found);
    const message = t(found.text, { ...problemTextValues, ...found.values });
    const about = found.field === "form" ? form.current : place;
    takeBackToast.current = openToast({
      title: t(title),
      message,
      tone: "danger",
      isSilent: isLed,
      dismissOnInput: about,
    });
  };
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    takeBackToast.current();
    try {
      const found = await submit(new FormData(event.currentTarget));
      if (found) refuse(found);
    } catch (error) {
      refuse(toProblem(error), failed);
    } finally {
      setBusy(false);
    }
  };

  const keep = () => {
    if (restoreKey && form.current) saveFormInput(restoreKey, form.current);
  };

  const takeOver = useEffectEvent(() => {
    if (!form.current) return;
    // As it stood: nothing is sent that its person did not see.
    if (consumeEarlySubmit(form.current)) form.current.requestSubmit();
    if (restoreKey) restoreFormInput(restoreKey, form.current);
    keep();
  });
  useEffect(() => takeOver(), []);

  return {
    form,
    isBusy,
    onSubmit,
    onInput: keep,
    /** Says what is wrong. Without a field of the form it stands above the button. */
    refuse,
    clear: (field: string) => setProblem((shown) => (shown?.field === field ? undefined : shown)),
    errorOf: (field: string): string | undefined =>
      problem?.field === field ? t(problem.text, { ...problemTextValues, ...problem.values }) : undefined,
  };
};
