import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { isBlank } from "#contract/text.ts";
import { AuthForm } from "#features/auth/form/auth-form.tsx";
import { type FormProblem, toFormProblem, validateNewPassword } from "#features/auth/form/form-problem.ts";
import { NewPasswordFields } from "#features/auth/form/new-password-fields.tsx";
import { getFormText, useAuthForm } from "#features/auth/form/use-auth-form.ts";
import { t as translate } from "#i18n/setup.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { createPasswordChange } from "#lib/session/change-password.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import { loadOwnPhone } from "#lib/session/recovery.ts";

const toNewPasswordProblem = (error: unknown): FormProblem =>
  toFormProblem(error, {
    common_password: { field: "password", text: "errors.common_password" },
    weak_password: { field: "password", text: "errors.weak_password" },
    same_password: { field: "password", text: "errors.same_password" },
  });

const isRecoveryExpired = (error: unknown): boolean =>
  error instanceof ApiRequestError && (error.code === "reauthentication_needed" || error.status === 401);

/** Form that replaces a forgotten password (SPEC.md §5). */
export function NewPasswordForm() {
  const { t } = useTranslation();
  const [isExpired, setExpired] = useState(false);
  const [replacePassword] = useState(createPasswordChange);
  const authForm = useAuthForm(
    async (data) => {
      const [password, repetition] = [getFormText(data, "password"), getFormText(data, "confirmPassword")];
      if (isBlank(password)) return { field: "password", text: "auth.fillAllFields" };
      if (isBlank(repetition)) return { field: "confirmPassword", text: "auth.fillAllFields" };
      const problem = validateNewPassword(password, repetition);
      if (problem) return problem;
      try {
        await replacePassword(password);
      } catch (error) {
        if (!isRecoveryExpired(error)) throw error;
        setExpired(true);
        return { field: "form", text: "recover.tooLate" };
      }
      saveFlashMessage({ message: translate("recover.done") });
      location.replace("/app");
      return undefined;
    },
    { toProblem: toNewPasswordProblem },
  );
  const { form, errorOf } = authForm;
  const [phone, setPhone] = useState("");
  // Optional: the form works without the phone number.
  useEffect(() => {
    void loadOwnPhone().then(setPhone, () => undefined);
  }, []);
  useEffect(() => form.current?.querySelector<HTMLElement>("#password")?.focus(), [form]);
  return (
    <AuthForm
      authForm={authForm}
      label={t("recover.save")}
      busyLabel={t("recover.saving")}
      submitReplacement={isExpired && <ButtonLink href="/recover">{t("recover.restart")}</ButtonLink>}
    >
      {/* Identifies the account to the user, who may have opened somebody else's link, and to password managers. */}
      <TextField
        id="phoneNumber"
        label={t("auth.phoneNumber")}
        value={phone}
        readOnly
        type="tel"
        autoComplete="username"
        dir="ltr"
      />
      <NewPasswordFields label={t("recover.newPassword")} errorOf={errorOf} />
    </AuthForm>
  );
}
