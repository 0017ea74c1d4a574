import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import type { useAuthForm } from "./use-auth-form.ts";

type AuthFormProps = {
  entry: Pick<ReturnType<typeof useAuthForm>, "form" | "isBusy" | "onSubmit" | "onInput" | "errorOf">;
  /** What the button says, and meanwhile. */
  label: string;
  busyLabel: string;
  /** In the button's place. */
  submitReplacement?: ReactNode;
  hidden?: boolean;
  /** The fields. */
  children: ReactNode;
  /** Below the button. */
  below?: ReactNode;
};

/**
 * The form of `useEntryForm`: its fields, what went wrong with the whole and not with one field, the button that sends it.
 * Without the script it says that it is needed.
 */
export function AuthForm({ entry, label, busyLabel, submitReplacement, hidden, children, below }: AuthFormProps) {
  const { t } = useTranslation();
  const error = entry.errorOf("form");
  const note = "rounded-card bg-danger-soft px-4 py-3 text-danger";
  return (
    <form
      ref={entry.form}
      method="post"
      noValidate
      hidden={hidden}
      onSubmit={entry.onSubmit}
      onInput={entry.onInput}
      className="mt-6 flex flex-col gap-5"
    >
      {children}
      {error && (
        <p id="form" tabIndex={-1} className={note}>
          {error}
        </p>
      )}
      <noscript>
        <p className={note}>{t("auth.scriptNeeded")}</p>
      </noscript>
      {submitReplacement || (
        <Button type="submit" busy={entry.isBusy} busyLabel={busyLabel}>
          {label}
        </Button>
      )}
      {below}
    </form>
  );
}
