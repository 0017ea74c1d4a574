import { type FormEvent, useEffect, useRef, useState } from "react";
import { passwordMaxLength } from "../../../contract/limits";
import { showToast } from "../../components/toast";
import type { TextKey } from "../../i18n/setup";
import { t } from "../../i18n/setup";
import { takeEarlySubmit } from "./early-submit";
import type { Problem } from "./validate-registration";

/** Numbers that texts of problems may name. */
const values = { max: passwordMaxLength };

/**
 * What the two forms share: one submission at a time, the one problem there is shown as a toast and beside its
 * field, the focus led there, and a submission from before the script arrived carried out now.
 */
export const useEntryForm = (submit: (form: HTMLFormElement) => Promise<void>) => {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>(`#${problem.field}`)?.focus();
  }, [problem]);

  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await submit(event.currentTarget);
    } finally {
      setBusy(false);
    }
  };

  useEffect(() => {
    if (form.current && takeEarlySubmit(form.current)) form.current.requestSubmit();
  }, []);

  return {
    form,
    isBusy,
    onSubmit,
    /** Says what is wrong. Without a field of the form it stands above the button. */
    refuse: (found: Problem, title: TextKey = "common.error") => {
      setProblem(found);
      showToast({ title: t(title), message: t(found.text, { ...values, ...found.values }), tone: "danger" });
    },
    clear: (field: string) => setProblem((shown) => (shown?.field === field ? undefined : shown)),
    errorOf: (field: string): string | undefined =>
      problem?.field === field ? t(problem.text, { ...values, ...problem.values }) : undefined,
  };
};
