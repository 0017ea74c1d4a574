import { useEffect, useState } from "react";
import { Button, ButtonLink } from "../../components/button";
import { PasswordField } from "../../components/password-field";
import { TextField } from "../../components/text-field";
import { t as now, useT } from "../../i18n/setup";
import { ApiFailure } from "../../lib/exchange";
import { failureWords } from "../../lib/failure-text";
import { createPasswordChange } from "../../lib/new-password";
import { leaveNotice } from "../../lib/notice";
import { loadOwnPhone } from "../../lib/recovery";
import { FormError } from "./form-error";
import { useEntryForm } from "./use-entry-form";
import { type Problem, validateNewPassword } from "./validate-registration";

const toProblem = (error: unknown): Problem => {
  if (!(error instanceof ApiFailure)) return { field: "form", text: "errors.internal" };
  switch (error.code) {
    case "offline":
      return { field: "form", text: "auth.offline" };
    case "weak_password":
    case "same_password":
      return { field: "password", text: `errors.${error.code}` };
    default:
      return { field: "form", ...failureWords(error) };
  }
};

const isTooLate = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.code === "reauthentication_needed" || error.status === 401);

/** The password that takes the forgotten one's place, twice (SPEC.md §5). */
export function NewPasswordForm() {
  const t = useT();
  const [isOver, setOver] = useState(false);
  const [replacePassword] = useState(createPasswordChange);
  const { form, isBusy, onSubmit, refuse, errorOf } = useEntryForm(async (element) => {
    const data = new FormData(element);
    const typed = { password: String(data.get("password")), confirmPassword: String(data.get("confirmPassword")) };
    const problem = validateNewPassword(typed);
    if (problem) return refuse(problem);
    try {
      await replacePassword(typed.password);
    } catch (error) {
      if (!isTooLate(error)) return refuse(toProblem(error));
      setOver(true);
      return refuse({ field: "form", text: "recover.tooLate" });
    }
    leaveNotice({ message: now("recover.done") });
    location.replace("/app");
  });
  const [phone, setPhone] = useState("");
  // Nothing is lost where it does not come: the form goes without.
  useEffect(() => {
    void loadOwnPhone().then(setPhone, () => undefined);
  }, []);
  useEffect(() => form.current?.querySelector<HTMLElement>("#password")?.focus(), [form]);
  return (
    <form ref={form} method="post" noValidate onSubmit={onSubmit} className="mt-6 flex flex-col gap-5">
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
      <PasswordField
        id="password"
        label={t("recover.newPassword")}
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
      <FormError error={errorOf("form")} />
      {isOver ? (
        <ButtonLink href="/recover">{t("recover.restart")}</ButtonLink>
      ) : (
        <Button type="submit" busy={isBusy} busyLabel={t("recover.saving")}>
          {t("recover.save")}
        </Button>
      )}
    </form>
  );
}
