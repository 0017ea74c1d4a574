import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PasswordField } from "#components/controls/password-field.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { isAcceptablePassword } from "#contract/auth/sign-in.ts";
import { passwordMaxLength } from "#contract/limits/authentication.ts";
import { FormDialog } from "#features/security/form-dialog.tsx";
import { passwordCardId, useSecurityChanges } from "#features/security/security-changes.ts";
import { ActionRow, CardText } from "#features/security/security-row.tsx";
import { toErrorCode } from "#lib/http/http-request.ts";
import { createPasswordChange } from "#lib/session/change-password.ts";

/** Dialog for a new password and its repetition, with the rules of the registration (SPEC.md §5). */
function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  const [changePassword] = useState(createPasswordChange);

  const submit = async (data: FormData) => {
    const [password, repetition] = [String(data.get("newPassword")), String(data.get("newPasswordAgain"))];
    if (password === "") return { field: "newPassword", text: t("auth.fillAllFields") };
    if (password.length > passwordMaxLength) {
      return { field: "newPassword", text: t("auth.passwordTooLong", { max: passwordMaxLength }) };
    }
    if (!isAcceptablePassword(password)) return { field: "newPassword", text: t("auth.passwordRequirement") };
    if (password !== repetition) return { field: "newPasswordAgain", text: t("auth.passwordsDoNotMatch") };
    try {
      if (!(await withStepUp(() => changePassword(password)))) return false;
    } catch (error) {
      const code = toErrorCode(error);
      if (code !== "same_password" && code !== "weak_password" && code !== "common_password") throw error;
      return { field: "newPassword", text: t(`errors.${code}`) };
    }
    showToast({ message: t("security.password.done") });
    void reload();
    return true;
  };
  return (
    <FormDialog
      title={t("security.password.change")}
      body={t("security.password.body")}
      submitLabel={t("security.password.submit")}
      submit={submit}
      onClose={onClose}
    >
      {(getFieldProps) => (
        <>
          <PasswordField
            {...getFieldProps("newPassword")}
            label={t("security.password.new")}
            hint={t("auth.passwordHint")}
            focusOnError
            autoComplete="new-password"
            enterKeyHint="next"
            data-autofocus
          />
          <PasswordField
            {...getFieldProps("newPasswordAgain")}
            label={t("auth.confirmPassword")}
            focusOnError
            autoComplete="new-password"
            enterKeyHint="done"
          />
        </>
      )}
    </FormDialog>
  );
}

export function PasswordSection() {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  return (
    <SettingsCard anchor={passwordCardId} title={t("auth.password")} icon="i-ph-password">
      {() => (
        <>
          <CardText>{t("security.password.about")}</CardText>
          <ActionRow icon="i-ph-pencil-simple" label={t("security.password.change")} onPress={() => setOpen(true)} />
          {isOpen && <PasswordDialog onClose={() => setOpen(false)} />}
        </>
      )}
    </SettingsCard>
  );
}
