import { useTranslation } from "react-i18next";
import { PasswordField } from "#components/controls/password-field.tsx";

type NewPasswordFieldsProps = { label: string; errorOf: (field: string) => string | undefined };

/** New password and its repetition. */
export function NewPasswordFields({ label, errorOf }: NewPasswordFieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <PasswordField
        id="password"
        label={label}
        hint={t("auth.passwordHint")}
        error={errorOf("password")}
        autoComplete="new-password"
        enterKeyHint="next"
      />
      <PasswordField
        id="confirmPassword"
        label={t("auth.confirmPassword")}
        error={errorOf("confirmPassword")}
        autoComplete="new-password"
        enterKeyHint="done"
      />
    </>
  );
}
