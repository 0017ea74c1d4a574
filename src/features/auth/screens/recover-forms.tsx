import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { TextField } from "#components/controls/text-field.tsx";
import { Email } from "#contract/auth/security.ts";
import { emailMaxLength } from "#contract/limits/authentication.ts";
import { toE164 } from "#contract/phone/phone.ts";
import { toNameProblem } from "#features/auth/flows/login-problem.ts";
import { AuthForm } from "#features/auth/form/auth-form.tsx";
import { type FormProblem, toFormProblem, validateCaptcha } from "#features/auth/form/form-problem.ts";
import { PhoneOrHandleField, toSignInName } from "#features/auth/form/phone-field.tsx";
import { getFormText } from "#features/auth/form/use-auth-form.ts";
import { useCaptchaForm } from "#features/auth/form/use-captcha-form.tsx";
import { requestRecoveryMail, signInByRecoveryCode } from "#lib/session/recovery.ts";
import type { OpenedSession } from "#lib/session/session.ts";

const validateEmail = (typed: string): FormProblem | undefined => {
  if (typed === "") return { field: "email", text: "auth.fillAllFields" };
  return v.safeParse(Email, typed).success ? undefined : { field: "email", text: "recover.emailInvalid" };
};

const mailCaptcha = {
  action: "recover",
  field: "email",
  isComplete: (typed: string) => validateEmail(typed) === undefined,
} as const;

const recoveryCodeCaptcha = {
  action: "recover_by_code",
  field: "phoneNumber",
  isComplete: (name: string) => toE164(name) !== undefined || name.startsWith("@"),
  toSubject: toSignInName,
} as const;

type RecoverMailFormProps = {
  /** E-mail address typed before. */
  email: string;
  onSent: (email: string) => void;
};

/** Requests a mail to the recovery address. */
export function RecoverMailForm({ email, onSent }: RecoverMailFormProps) {
  const { t } = useTranslation();
  const authForm = useCaptchaForm(mailCaptcha, async (data, prove) => {
    const typed = getFormText(data, "email").trim();
    const problem = validateEmail(typed) ?? validateCaptcha(data.has("robot"));
    if (problem) return problem;
    await prove((token) => requestRecoveryMail(typed, token));
    onSent(typed);
    return undefined;
  });
  return (
    <AuthForm authForm={authForm} label={t("recover.send")} busyLabel={t("recover.sending")}>
      <TextField
        id="email"
        label={t("recover.email")}
        hint={t("recover.emailHint")}
        error={authForm.errorOf("email")}
        defaultValue={email}
        type="email"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={emailMaxLength}
        enterKeyHint="next"
      />
      {authForm.captcha}
    </AuthForm>
  );
}

/** `name`: number, or handle with its "@". */
const toRecoveryCodeProblem = (error: unknown, name: string): FormProblem =>
  toFormProblem(error, {
    invalid_credentials: { field: "recoveryCode", text: "recover.codeWrong" },
    validation_failed: toNameProblem(name),
  });

type RecoverCodeFormProps = {
  /** Phone number typed before. */
  phone: string;
  signIn: (phone: string, openSession: () => Promise<OpenedSession>) => Promise<void>;
};

/** Signs in with a recovery code instead of the password. */
export function RecoverCodeForm({ phone, signIn }: RecoverCodeFormProps) {
  const { t } = useTranslation();
  const authForm = useCaptchaForm(
    recoveryCodeCaptcha,
    async (data, prove) => {
      const typed = toSignInName(getFormText(data, "phoneNumber"));
      const code = getFormText(data, "recoveryCode").trim();
      if (typed === "") return { field: "phoneNumber", text: "auth.fillAllFields" };
      if (code === "") return { field: "recoveryCode", text: "auth.fillAllFields" };
      const problem = validateCaptcha(data.has("robot"));
      if (problem) return problem;
      await prove((token) => signIn(typed, () => signInByRecoveryCode(typed, code, token)));
      return undefined;
    },
    {
      toProblem: (error) => toRecoveryCodeProblem(error, toSignInName(findField()?.value ?? "")),
    },
  );
  const { form, errorOf } = authForm;
  const findField = () => form.current?.querySelector<HTMLInputElement>("#phoneNumber");
  useEffect(() => form.current?.querySelector<HTMLElement>("#phoneNumber")?.focus(), [form]);
  return (
    <AuthForm authForm={authForm} label={t("auth.secondStep.go")} busyLabel={t("auth.secondStep.checking")}>
      <PhoneOrHandleField error={errorOf("phoneNumber")} defaultValue={phone} autoComplete="username" />
      <TextField
        id="recoveryCode"
        label={t("auth.secondStep.recovery")}
        hint={t("auth.secondStep.recoveryHint")}
        error={errorOf("recoveryCode")}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={64}
        dir="ltr"
        enterKeyHint="next"
      />
      {authForm.captcha}
    </AuthForm>
  );
}
