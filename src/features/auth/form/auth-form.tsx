import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import type { useAuthForm } from "./use-auth-form.ts";

type AuthFormProps = {
  authForm: Pick<ReturnType<typeof useAuthForm>, "form" | "isBusy" | "onSubmit" | "onInput" | "errorOf" | "errorTitle">;
  /** Label of the submit button, and its label while busy. */
  label: string;
  busyLabel: string;
  /** Rendered instead of the submit button. */
  submitReplacement?: ReactNode;
  hidden?: boolean;
  /** Form fields. */
  children: ReactNode;
  /** Rendered below the submit button. */
  below?: ReactNode;
};

/**
 * Form of `useAuthForm`: fields, the error of the form as a whole, submit button, and a notice if scripts are disabled.
 */
export function AuthForm({ authForm, label, busyLabel, submitReplacement, hidden, children, below }: AuthFormProps) {
  const { t } = useTranslation();
  const error = authForm.errorOf("form");
  const noteClass = "rounded-card bg-danger-soft px-4 py-3 text-danger";
  return (
    <form
      ref={authForm.form}
      method="post"
      noValidate
      hidden={hidden}
      onSubmit={authForm.onSubmit}
      onInput={authForm.onInput}
      className="mt-6 flex flex-col gap-5"
    >
      {children}
      {error && (
        <div id="form" tabIndex={-1} className={noteClass}>
          {authForm.errorTitle && <p className="font-semibold">{authForm.errorTitle}</p>}
          <p>{error}</p>
        </div>
      )}
      <noscript>
        <p className={noteClass}>{t("auth.scriptNeeded")}</p>
      </noscript>
      {submitReplacement || (
        <Button type="submit" busy={authForm.isBusy} busyLabel={busyLabel}>
          {label}
        </Button>
      )}
      {below}
    </form>
  );
}
