import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { TextField } from "#components/controls/text-field.tsx";
import { Email } from "#contract/auth/security.ts";
import { emailMaxLength } from "#contract/limits.ts";
import { toE164 } from "#contract/phone.ts";
import { EntryForm } from "#features/auth/form/entry-form.tsx";
import { judgeRobot, type Problem, toProblem } from "#features/auth/form/form-problem.ts";
import { PhoneField } from "#features/auth/form/phone-field.tsx";
import { textOf } from "#features/auth/form/use-entry-form.ts";
import { useGuardedForm } from "#features/auth/form/use-guarded-form.tsx";
import { askRecovery, openByRecoveryCode } from "#lib/session/recovery.ts";
import type { Opened } from "#lib/session/session.ts";

const judgeEmail = (typed: string): Problem | undefined => {
  if (typed === "") return { field: "email", text: "auth.fillAllFields" };
  return v.safeParse(Email, typed).success ? undefined : { field: "email", text: "recover.emailInvalid" };
};

const mailGuard = {
  action: "recover",
  field: "email",
  isComplete: (typed: string) => judgeEmail(typed) === undefined,
} as const;

const codeGuard = {
  action: "recover_by_code",
  field: "phoneNumber",
  isComplete: (typed: string) => toE164(typed) !== undefined,
} as const;

type MailFormProps = {
  /** What was typed before. */
  email: string;
  onSent: (email: string) => void;
};

/** Asks for a mail to the recovery address. */
export function RecoverMailForm({ email, onSent }: MailFormProps) {
  const { t } = useTranslation();
  const entry = useGuardedForm(mailGuard, async (data, prove) => {
    const typed = textOf(data, "email").trim();
    const problem = judgeEmail(typed) ?? judgeRobot(data.has("robot"));
    if (problem) return problem;
    await prove((token) => askRecovery(typed, token));
    onSent(typed);
    return undefined;
  });
  return (
    <EntryForm entry={entry} label={t("recover.send")} busyLabel={t("recover.sending")}>
      <TextField
        id="email"
        label={t("recover.email")}
        hint={t("recover.emailHint")}
        error={entry.errorOf("email")}
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
      {entry.box}
    </EntryForm>
  );
}

const explainCode = (error: unknown): Problem =>
  toProblem(error, {
    invalid_credentials: { field: "recoveryCode", text: "recover.codeWrong" },
    validation_failed: { field: "phoneNumber", text: "auth.invalidPhoneNumber" },
  });

type CodeFormProps = {
  /** What was typed before. */
  phone: string;
  open: (phone: string, begin: () => Promise<Opened>) => Promise<void>;
};

/** A recovery code in the password's place. */
export function RecoverCodeForm({ phone, open }: CodeFormProps) {
  const { t } = useTranslation();
  const entry = useGuardedForm(
    codeGuard,
    async (data, prove) => {
      const typed = textOf(data, "phoneNumber").trim();
      const code = textOf(data, "recoveryCode").trim();
      if (typed === "") return { field: "phoneNumber", text: "auth.fillAllFields" };
      if (code === "") return { field: "recoveryCode", text: "auth.fillAllFields" };
      const problem = judgeRobot(data.has("robot"));
      if (problem) return problem;
      await prove((token) => open(typed, () => openByRecoveryCode(typed, code, token)));
      return undefined;
    },
    { explain: explainCode },
  );
  const { form, errorOf } = entry;
  useEffect(() => form.current?.querySelector<HTMLElement>("#phoneNumber")?.focus(), [form]);
  return (
    <EntryForm entry={entry} label={t("auth.secondStep.go")} busyLabel={t("auth.secondStep.checking")}>
      <PhoneField error={errorOf("phoneNumber")} defaultValue={phone} autoComplete="username" />
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
      {entry.box}
    </EntryForm>
  );
}
