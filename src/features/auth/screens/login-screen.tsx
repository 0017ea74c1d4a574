import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { PasswordField } from "#components/controls/password-field.tsx";
import { toLoginProblem } from "#features/auth/flows/login-problem.ts";
import { ProviderButtons } from "#features/auth/flows/provider-buttons.tsx";
import { useArrival } from "#features/auth/flows/use-after-sign-in.tsx";
import { usePasskeySignIn } from "#features/auth/flows/use-passkey-sign-in.ts";
import { useProviderReturn } from "#features/auth/flows/use-provider-return.ts";
import { EntryForm } from "#features/auth/form/entry-form.tsx";
import { EntryNote } from "#features/auth/form/entry-note.tsx";
import type { Problem } from "#features/auth/form/form-problem.ts";
import { PhoneField } from "#features/auth/form/phone-field.tsx";
import { textOf, useEntryForm } from "#features/auth/form/use-entry-form.ts";
import { validateLogin } from "#features/auth/form/validate-login.ts";
import { PasskeyFailure, passkeyTexts } from "#lib/factors/passkey-error.ts";
import { endedNoteId } from "#lib/session/session-ended-note.ts";
import { signIn } from "#lib/session/sign-in.ts";
import { EntryFrame, OtherWay } from "./entry-frame.tsx";
import { useDocumentTexts } from "./use-document-texts.ts";

const explainPasskey = (error: unknown): Problem =>
  error instanceof PasskeyFailure ? { field: "form", text: passkeyTexts[error.problem] } : toLoginProblem(error);

/** SPEC.md §2: a phone number and a password. */
export default function LoginScreen() {
  const { t } = useTranslation();
  const entry = useEntryForm(
    async (data) => {
      const typed = { phoneNumber: textOf(data, "phoneNumber"), password: textOf(data, "password") };
      const problem = validateLogin(typed);
      if (problem) return problem;
      await arrive(await signIn(typed.phoneNumber, typed.password));
      return undefined;
    },
    { explain: toLoginProblem, title: "auth.signInFailed", keeps: "login" },
  );
  const { form, refuse, errorOf } = entry;
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
  useDocumentTexts(t(isHalfway ? "auth.secondStep.title" : "auth.loginTitle"), t("auth.loginDescription"));
  const { isReturning } = useProviderReturn({ onOpened: arrive, onFailed });
  const passkey = usePasskeySignIn({
    isPaused: isHalfway,
    onOpened: arrive,
    onFailed: (error) => refuse(explainPasskey(error), "auth.signInFailed"),
  });

  return (
    <EntryFrame
      title={t(isHalfway ? "auth.secondStep.title" : "auth.loginTitle")}
      lead={t(isHalfway ? "auth.secondStep.lead" : "auth.loginLead")}
    >
      {isHalfway ? (
        <div className="mt-6">{secondStep}</div>
      ) : (
        <EntryNote id={endedNoteId} icon="i-ph-info-fill">
          <p>{t("auth.sessionEnded")}</p>
        </EntryNote>
      )}
      <EntryForm
        entry={{ ...entry, isBusy: entry.isBusy || isReturning }}
        label={t("auth.logIn")}
        busyLabel={t("auth.loggingIn")}
        hidden={isHalfway}
        below={
          // Its place is kept until it is known whether this browser can.
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
        }
      >
        <PhoneField error={errorOf("phoneNumber")} autoComplete="username webauthn" />
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
      </EntryForm>
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
