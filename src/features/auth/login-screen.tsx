import { Button } from "../../components/button";
import { TextField } from "../../components/text-field";
import { t as now, useT } from "../../i18n/setup";
import { leaveNotice } from "../../lib/notice";
import { signIn } from "../../lib/session";
import { EntryFrame, OtherWay } from "./entry-frame";
import { toLoginProblem } from "./failure-problem";
import { FormError } from "./form-error";
import { PasswordField } from "./password-field";
import { useDocumentTexts } from "./use-document-texts";
import { useEntryForm } from "./use-entry-form";
import { validateLogin } from "./validate-registration";

/** SPEC.md §2: a phone number and a password. */
export default function LoginScreen() {
  const t = useT();
  useDocumentTexts(t("auth.loginTitle"), t("auth.loginDescription"));
  const { form, isBusy, onSubmit, refuse, errorOf } = useEntryForm(async (element) => {
    const data = new FormData(element);
    const typed = { phoneNumber: String(data.get("phoneNumber")), password: String(data.get("password")) };
    const problem = validateLogin(typed);
    if (problem) return refuse(problem);
    try {
      await signIn(typed.phoneNumber, typed.password);
    } catch (error) {
      return refuse(toLoginProblem(error), "auth.signInFailed");
    }
    leaveNotice({ message: now("auth.loginSuccessful") });
    location.replace("/app");
  });

  return (
    <EntryFrame title={t("auth.loginTitle")} lead={t("auth.loginLead")}>
      <form ref={form} method="post" noValidate onSubmit={onSubmit} className="mt-6 flex flex-col gap-5">
        <TextField
          id="phoneNumber"
          label={t("auth.phoneNumber")}
          error={errorOf("phoneNumber")}
          type="tel"
          inputMode="tel"
          autoComplete="username"
          placeholder="243810000000"
          maxLength={40}
          enterKeyHint="next"
        />
        <PasswordField
          id="password"
          label={t("auth.password")}
          error={errorOf("password")}
          autoComplete="current-password"
          enterKeyHint="go"
        />
        <FormError error={errorOf("form")} />
        <Button type="submit" busy={isBusy} busyLabel={t("auth.loggingIn")}>
          {t("auth.logIn")}
        </Button>
      </form>
      <OtherWay question={t("auth.noAccount")} href="/register">
        {t("auth.createAccount")}
      </OtherWay>
    </EntryFrame>
  );
}
