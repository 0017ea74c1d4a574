import { Button } from "../../components/button";
import { PasswordField } from "../../components/password-field";
import { TextField } from "../../components/text-field";
import { useT } from "../../i18n/setup";
import { signIn } from "../../lib/session";
import { EntryFrame, OtherWay } from "./entry-frame";
import { toLoginProblem } from "./failure-problem";
import { FormError } from "./form-error";
import { useArrival } from "./use-arrival";
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
      await arrive(await signIn(typed.phoneNumber, typed.password));
    } catch (error) {
      refuse(toLoginProblem(error), "auth.signInFailed");
    }
  });
  // The number is still there; the password is typed anew.
  const { arrive, secondStep } = useArrival(() => {
    const field = form.current?.querySelector<HTMLInputElement>("#password");
    if (field) field.value = "";
    requestAnimationFrame(() => field?.focus());
  });
  const isHalfway = secondStep !== undefined;

  return (
    <EntryFrame
      title={t(isHalfway ? "auth.secondStep.title" : "auth.loginTitle")}
      lead={t(isHalfway ? "auth.secondStep.lead" : "auth.loginLead")}
    >
      {isHalfway && <div className="mt-6">{secondStep}</div>}
      <form
        ref={form}
        method="post"
        noValidate
        hidden={isHalfway}
        onSubmit={onSubmit}
        className="mt-6 flex flex-col gap-5"
      >
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
      {!isHalfway && (
        <OtherWay question={t("auth.noAccount")} href="/register">
          {t("auth.createAccount")}
        </OtherWay>
      )}
    </EntryFrame>
  );
}
