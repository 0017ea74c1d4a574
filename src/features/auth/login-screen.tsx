import { Button } from "../../components/button";
import { PasswordField } from "../../components/password-field";
import { TextField } from "../../components/text-field";
import { useT } from "../../i18n/setup";
import { signIn } from "../../lib/sign-in";
import { EntryFrame, OtherWay } from "./entry-frame";
import { toLoginProblem, toPasskeyProblem } from "./failure-problem";
import { FormError } from "./form-error";
import { ProviderButtons } from "./provider-buttons";
import { useArrival } from "./use-arrival";
import { useDocumentTexts } from "./use-document-texts";
import { useEntryForm } from "./use-entry-form";
import { usePasskeySignIn } from "./use-passkey-sign-in";
import { useProviderReturn } from "./use-provider-return";
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
  const onFailed = (error: unknown) => refuse(toLoginProblem(error), "auth.signInFailed");
  const findField = (id: string) => form.current?.querySelector<HTMLInputElement>(`#${id}`);
  const { arrive, secondStep } = useArrival({
    findPhone: () => findField("phoneNumber")?.value ?? "",
    onResumed: (phone) => {
      const field = findField("phoneNumber");
      if (field) field.value = phone;
    },
    // The number is still there; the password is typed anew.
    onBack: (why) => {
      const field = findField("password");
      if (field) field.value = "";
      if (why === "over") refuse({ field: "form", text: "errors.flow_state_not_found" }, "auth.signInFailed");
      else requestAnimationFrame(() => field?.focus());
    },
    onFailed,
  });
  const isHalfway = secondStep !== undefined;
  const { isReturning } = useProviderReturn({ onOpened: arrive, onFailed });
  const passkey = usePasskeySignIn({
    isPaused: isHalfway,
    onOpened: arrive,
    onFailed: (error) => refuse(toPasskeyProblem(error), "auth.signInFailed"),
  });

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
          autoComplete="username webauthn"
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
        <a
          href="/recover"
          className="-mt-4 inline-flex min-h-12 items-center self-start font-semibold text-accent underline underline-offset-4"
        >
          {t("auth.forgotPassword")}
        </a>
        <FormError error={errorOf("form")} />
        <Button type="submit" busy={isBusy || isReturning} busyLabel={t("auth.loggingIn")}>
          {t("auth.logIn")}
        </Button>
        {/* Its place is kept until it is known whether this browser can. */}
        <div className="grid min-h-12">
          {passkey.canSignIn && (
            <Button look="secondary" busy={passkey.isBusy} busyLabel={t("auth.passkeyBusy")} onClick={passkey.press}>
              <span className="-mx-4 flex items-center gap-2 text-sm sm:text-base">
                <span className="i-ph-fingerprint shrink-0 text-xl text-accent" aria-hidden="true" />
                {t("auth.withPasskey")}
              </span>
            </Button>
          )}
        </div>
      </form>
      {!isHalfway && (
        <>
          <ProviderButtons onFailed={onFailed} />
          <OtherWay question={t("auth.noAccount")} href="/register">
            {t("auth.createAccount")}
          </OtherWay>
        </>
      )}
    </EntryFrame>
  );
}
