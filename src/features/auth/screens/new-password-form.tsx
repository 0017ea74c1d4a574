import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { isBlank } from "#contract/text.ts";
import { AuthForm } from "#features/auth/form/auth-form.tsx";
import { type FormProblem, toFormProblem, validateNewPassword } from "#features/auth/form/form-problem.ts";
import { NewPasswordFields } from "#features/auth/form/new-password-fields.tsx";
import { getFormText, useAuthForm } from "#features/auth/form/use-auth-form.ts";
import { t as now } from "#i18n/setup.ts";
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

/** The password that takes the forgotten one's place, twice (SPEC.md §5). */
export function NewPasswordForm() {
  const { t } = useTranslation();
  const [isOver, setOver] = useState(false);
  const [replacePassword] = useState(createPasswordChange);
  const entry = useAuthForm(
    async (data) => {
      const [password, again] = [getFormText(data, "password"), getFormText(data, "confirmPassword")];
      if (isBlank(password)) return { field: "password", text: "auth.fillAllFields" };
      if (isBlank(again)) return { field: "confirmPassword", text: "auth.fillAllFields" };
      const problem = validateNewPassword(password, again);
      if (problem) return problem;
      try {
        await replacePassword(password);
      } catch (error) {
        if (!isRecoveryExpired(error)) throw error;
        setOver(true);
        return { field: "form", text: "recover.tooLate" };
      }
      saveFlashMessage({ message: now("recover.done") });
      location.replace("/app");
      return undefined;
    },
    { toProblem: toNewPasswordProblem },
  );
  const { form, errorOf } = entry;
  const [phone, setPhone] = useState("");
  // Nothing is lost where it does not come: the form goes without.
  useEffect(() => {
    void loadOwnPhone().then(setPhone, () => undefined);
  }, []);
  useEffect(() => form.current?.querySelector<HTMLElement>("#password")?.focus(), [form]);
  return (
    <AuthForm
      entry={entry}
      label={t("recover.save")}
      busyLabel={t("recover.saving")}
      submitReplacement={isOver && <ButtonLink href="/recover">{t("recover.restart")}</ButtonLink>}
    >
      {/* Whose it is: for the person, whom somebody else's link may have led here, and for what keeps passwords. */}
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
