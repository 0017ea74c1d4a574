import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { PasswordField } from "#components/controls/password-field.tsx";
import { toLoginProblem } from "#features/auth/flows/login-problem.ts";
import { ProviderButtons } from "#features/auth/flows/provider-buttons.tsx";
import { useAfterSignIn } from "#features/auth/flows/use-after-sign-in.tsx";
import { usePasskeySignIn } from "#features/auth/flows/use-passkey-sign-in.ts";
import { useProviderReturn } from "#features/auth/flows/use-provider-return.ts";
import { AuthForm } from "#features/auth/form/auth-form.tsx";
import { AuthNote } from "#features/auth/form/auth-note.tsx";
import type { FormProblem } from "#features/auth/form/form-problem.ts";
import { PhoneOrHandleField, toSignInName } from "#features/auth/form/phone-field.tsx";
import { getFormText, useAuthForm } from "#features/auth/form/use-auth-form.ts";
import { validateLogin } from "#features/auth/form/validate-login.ts";
import { PasskeyError, passkeyErrorKeys } from "#lib/factors/passkey-error.ts";
import { sessionEndedNoteId } from "#lib/session/session-ended-note.ts";
import { signIn } from "#lib/session/sign-in.ts";
import { AuthFooterLink, AuthPage } from "./auth-page.tsx";
import { useDocumentMeta } from "./use-document-meta.ts";

const toPasskeyProblem = (error: unknown): FormProblem =>
  error instanceof PasskeyError ? { field: "form", text: passkeyErrorKeys[error.problem] } : toLoginProblem(error);

/** Sign-in page (SPEC.md §2): phone number and password, passkey or OAuth provider. */
export default function LoginScreen() {
  const { t } = useTranslation();
  const authForm = useAuthForm(
    async (data) => {
      const input = { phoneNumber: getFormText(data, "phoneNumber"), password: getFormText(data, "password") };
      const problem = validateLogin(input);
      if (problem) return problem;
      await continueSignIn(await signIn(toSignInName(input.phoneNumber), input.password));
      return undefined;
    },
    {
      toProblem: (error) => toLoginProblem(error, toSignInName(findField("phoneNumber")?.value ?? "")),
      failureTitle: "auth.signInFailed",
      restoreKey: "login",
    },
  );
  const { form, showProblem, errorOf } = authForm;
  const onFailed = (error: unknown) => showProblem(toLoginProblem(error), "auth.signInFailed");
  const findField = (id: string) => form.current?.querySelector<HTMLInputElement>(`#${id}`);
  const { continueSignIn, secondFactorStep } = useAfterSignIn({
    getTypedPhone: () => findField("phoneNumber")?.value ?? "",
    onResumed: (phone) => {
      const field = findField("phoneNumber");
      if (field) field.value = phone;
    },
    // The phone number stays; the password must be typed again.
    onReturnToForm: (why) => {
      const field = findField("password");
      if (field) field.value = "";
      if (why === "over") showProblem({ field: "form", text: "errors.flow_state_not_found" }, "auth.signInFailed");
      else requestAnimationFrame(() => field?.focus());
    },
    onFailed,
  });
  const needsSecondFactor = secondFactorStep !== undefined;
  useDocumentMeta(t(needsSecondFactor ? "auth.secondStep.title" : "auth.loginTitle"), t("auth.loginDescription"));
  const { isReturning } = useProviderReturn({ onOpened: continueSignIn, onFailed });
  const passkey = usePasskeySignIn({
    isPaused: needsSecondFactor,
    onOpened: continueSignIn,
    onFailed: (error) => showProblem(toPasskeyProblem(error), "auth.signInFailed"),
  });

  return (
    <AuthPage
      title={t(needsSecondFactor ? "auth.secondStep.title" : "auth.loginTitle")}
      lead={t(needsSecondFactor ? "auth.secondStep.lead" : "auth.loginLead")}
    >
      {needsSecondFactor ? (
        <div className="mt-6">{secondFactorStep}</div>
      ) : (
        <AuthNote id={sessionEndedNoteId} icon="i-ph-info-fill">
          <p>{t("auth.sessionEnded")}</p>
        </AuthNote>
      )}
      <AuthForm
        authForm={{ ...authForm, isBusy: authForm.isBusy || isReturning }}
        label={t("auth.logIn")}
        busyLabel={t("auth.loggingIn")}
        hidden={needsSecondFactor}
        below={
          // Reserves the space until it is known whether this browser supports passkeys.
          <div className="grid min-h-12">
            {passkey.canSignIn && (
              <Button
                variant="secondary"
                busy={passkey.isBusy}
                busyLabel={t("auth.passkeyBusy")}
                onClick={passkey.signIn}
              >
                <span className="-mx-4 flex items-center gap-2 text-sm sm:text-base">
                  <span className="i-ph-fingerprint shrink-0 text-xl text-accent" aria-hidden="true" />
                  {t("auth.withPasskey")}
                </span>
              </Button>
            )}
          </div>
        }
      >
        <PhoneOrHandleField error={errorOf("phoneNumber")} autoComplete="username webauthn" />
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
      </AuthForm>
      {!needsSecondFactor && (
        <>
          <ProviderButtons onFailed={onFailed} />
          <AuthFooterLink question={t("auth.noAccount")} href="/register">
            {t("auth.createAccount")}
          </AuthFooterLink>
        </>
      )}
    </AuthPage>
  );
}
