import { useEffect, useRef } from "react";
import * as v from "valibot";
import { emailMaxLength } from "../../../contract/limits";
import { Email } from "../../../contract/security";
import { Button } from "../../components/button";
import { TextField } from "../../components/text-field";
import { useT } from "../../i18n/setup";
import { ApiFailure } from "../../lib/exchange";
import { failureWords } from "../../lib/failure-text";
import { askRecovery, openByRecoveryCode } from "../../lib/recovery";
import type { Opened } from "../../lib/session";
import { FormError } from "./form-error";
import { RobotBox } from "./robot-box";
import { useEntryForm } from "./use-entry-form";
import { useRobotCheck } from "./use-robot-check";
import type { Problem } from "./validate-registration";

/** What a refusal says of the whole form, or of the box. */
const toProblem = (error: unknown, others: Readonly<Record<string, Problem>> = {}): Problem => {
  if (!(error instanceof ApiFailure)) return { field: "form", text: "errors.internal" };
  if (error.code === "offline") return { field: "form", text: "auth.offline" };
  if (error.code === "captcha_failed") return { field: "robot", text: "errors.captcha_failed" };
  return others[error.code] ?? { field: "form", ...failureWords(error) };
};

const unticked: Problem = { field: "robot", text: "auth.mustCheckRobot" };

/** A form with a robot box. */
const useGuardedForm = (
  judge: (data: FormData) => Problem | undefined,
  send: (data: FormData, captchaToken: string) => Promise<void>,
  others?: Readonly<Record<string, Problem>>,
) => {
  const robot = useRobotCheck();
  const robotInput = useRef<HTMLInputElement>(null);

  // Ticked before the script arrived. It stands before the form, which carries out what was sent by then.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, on arrival
  useEffect(() => {
    if (robotInput.current?.checked) robot.start();
  }, []);

  const { form, isBusy, onSubmit, refuse, clear, errorOf } = useEntryForm(async (element) => {
    const data = new FormData(element);
    const problem = judge(data) ?? (data.has("robot") ? undefined : unticked);
    if (problem) return refuse(problem);
    try {
      await send(data, await robot.spend());
    } catch (error) {
      refuse(toProblem(error, others));
      robot.start();
    }
  });
  const box = (
    <RobotBox
      input={robotInput}
      status={robot.status}
      error={errorOf("robot")}
      onChange={(isTicked) => {
        clear("robot");
        if (isTicked) robot.start();
        else robot.stop();
      }}
    />
  );
  return { form, isBusy, onSubmit, errorOf, box };
};

const textOf = (data: FormData, name: string): string => String(data.get(name) ?? "").trim();

type MailFormProps = {
  /** What was typed before. */
  email: string;
  onSent: (email: string) => void;
};

/** Asks for a mail to the recovery address. */
export function RecoverMailForm({ email, onSent }: MailFormProps) {
  const t = useT();
  const { form, isBusy, onSubmit, errorOf, box } = useGuardedForm(
    (data) => {
      const typed = textOf(data, "email");
      if (typed === "") return { field: "email", text: "auth.fillAllFields" };
      return v.safeParse(Email, typed).success ? undefined : { field: "email", text: "recover.emailInvalid" };
    },
    async (data, captchaToken) => {
      const typed = textOf(data, "email");
      await askRecovery(typed, captchaToken);
      onSent(typed);
    },
  );
  return (
    <form ref={form} method="post" noValidate onSubmit={onSubmit} className="mt-6 flex flex-col gap-5">
      <TextField
        id="email"
        label={t("recover.email")}
        hint={t("recover.emailHint")}
        error={errorOf("email")}
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
      {box}
      <FormError error={errorOf("form")} />
      <Button type="submit" busy={isBusy} busyLabel={t("recover.sending")}>
        {t("recover.send")}
      </Button>
    </form>
  );
}

type CodeFormProps = {
  /** What was typed before. */
  phone: string;
  open: (phone: string, begin: () => Promise<Opened>) => Promise<void>;
};

/** A recovery code in the password's place. */
export function RecoverCodeForm({ phone, open }: CodeFormProps) {
  const t = useT();
  const { form, isBusy, onSubmit, errorOf, box } = useGuardedForm(
    (data) => {
      const empty = ["phoneNumber", "recoveryCode"].find((name) => textOf(data, name) === "");
      return empty === undefined ? undefined : { field: empty, text: "auth.fillAllFields" };
    },
    (data, captchaToken) => {
      const phone = textOf(data, "phoneNumber");
      return open(phone, () => openByRecoveryCode(phone, textOf(data, "recoveryCode"), captchaToken));
    },
    {
      invalid_credentials: { field: "recoveryCode", text: "recover.codeWrong" },
      validation_failed: { field: "phoneNumber", text: "auth.invalidPhoneNumber" },
    },
  );
  useEffect(() => form.current?.querySelector<HTMLElement>("#phoneNumber")?.focus(), [form]);
  return (
    <form ref={form} method="post" noValidate onSubmit={onSubmit} className="mt-6 flex flex-col gap-5">
      <TextField
        id="phoneNumber"
        label={t("auth.phoneNumber")}
        error={errorOf("phoneNumber")}
        defaultValue={phone}
        type="tel"
        inputMode="tel"
        autoComplete="username"
        placeholder="243810000000"
        maxLength={40}
        enterKeyHint="next"
      />
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
      {box}
      <FormError error={errorOf("form")} />
      <Button type="submit" busy={isBusy} busyLabel={t("auth.secondStep.checking")}>
        {t("auth.secondStep.go")}
      </Button>
    </form>
  );
}
