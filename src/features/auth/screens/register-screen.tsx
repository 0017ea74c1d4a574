import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#components/controls/text-field.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { displayNameMaxLength } from "#contract/limits.ts";
import { toE164 } from "#contract/phone.ts";
import { createIdempotentSignUp, uploadInitialProfile } from "#features/auth/flows/create-account.ts";
import { toLoginProblem } from "#features/auth/flows/login-problem.ts";
import { PendingRegistrationNote } from "#features/auth/flows/pending-registration-note.tsx";
import { ProviderButtons } from "#features/auth/flows/provider-buttons.tsx";
import { usePendingRegistration } from "#features/auth/flows/use-pending-registration.ts";
import { AuthForm } from "#features/auth/form/auth-form.tsx";
import { AvatarField } from "#features/auth/form/avatar-field.tsx";
import { type FormProblem, toFormProblem } from "#features/auth/form/form-problem.ts";
import { NewPasswordFields } from "#features/auth/form/new-password-fields.tsx";
import { PhoneField } from "#features/auth/form/phone-field.tsx";
import { getFormText } from "#features/auth/form/use-auth-form.ts";
import { useAvatarInput } from "#features/auth/form/use-avatar-input.ts";
import { useCaptchaForm } from "#features/auth/form/use-captcha-form.tsx";
import { validateRegistration } from "#features/auth/form/validate-registration.ts";
import { t as now } from "#i18n/setup.ts";
import { ApiRequestError, toErrorCode } from "#lib/http/http-request.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import { AuthFooterLink, AuthPage } from "./auth-page.tsx";
import { useDocumentMeta } from "./use-document-meta.ts";

const readRegistrationForm = (data: FormData) => ({
  displayName: getFormText(data, "displayName"),
  phoneNumber: getFormText(data, "phoneNumber"),
  password: getFormText(data, "password"),
  confirmPassword: getFormText(data, "confirmPassword"),
  isNoRobot: data.has("robot"),
});

const signUpCaptcha = {
  action: "sign_up",
  field: "phoneNumber",
  isComplete: (typed: string) => toE164(typed) !== undefined,
} as const;

const toRegistrationProblem = (error: unknown): FormProblem => {
  const isWithoutUser = error instanceof ApiRequestError && error.code === "unavailable" && error.status === 200;
  if (isWithoutUser) return { field: "form", text: "auth.userNotCreated" }; // SPEC.md §8
  return toFormProblem(error, {
    phone_exists: { field: "phoneNumber", text: "auth.phoneAlreadyRegistered" },
    common_password: { field: "password", text: "errors.common_password" },
    weak_password: { field: "password", text: "auth.passwordRequirement" },
    invalid_name: { field: "displayName", text: "errors.invalid_name" },
    reserved_name: { field: "displayName", text: "errors.reserved_name" },
    flow_state_not_found: { field: "form", text: "auth.newcomerExpired" },
  });
};

/** What came back from a provider is worth nothing any more: the account can be made without. */
const isIdentityRefused = (error: unknown): boolean =>
  ["flow_state_not_found", "bad_code_verifier", "identity_already_exists"].includes(toErrorCode(error));

/** SPEC.md §2 and §5: a name, a picture, a number, a password, and proof of being no robot. */
export default function RegisterScreen() {
  const { t } = useTranslation();
  useDocumentMeta(t("auth.registerTitle"), t("auth.registerDescription"));
  const picture = useRef<HTMLInputElement>(null);
  const openAccount = useRef(createIdempotentSignUp());
  const avatar = useAvatarInput(picture, ({ title, message }) => {
    showToast({ title: now(title), message: now(message), tone: "danger" });
  });

  const entry = useCaptchaForm(
    signUpCaptcha,
    async (data, prove) => {
      const typed = readRegistrationForm(data);
      const blob = await avatar.getBlob();
      const problem = validateRegistration({ ...typed, hasAvatar: blob !== undefined });
      if (problem || !blob) return problem ?? { field: "avatar", text: "auth.profilePictureRequired" };
      const account = {
        phone: typed.phoneNumber,
        password: typed.password,
        username: typed.displayName,
        ...(newcomer && { identity: newcomer.identity }),
      };
      try {
        await prove((token) => openAccount.current(account, token));
      } catch (error) {
        if (newcomer && isIdentityRefused(error)) forget();
        throw error;
      }
      forget();
      const isComplete = await uploadInitialProfile(account.username, blob);
      saveFlashMessage(
        isComplete
          ? { message: now("auth.accountCreated") }
          : { title: now("auth.accountCreatedTitle"), message: now("auth.profileIncomplete") },
      );
      location.replace("/app");
      return undefined;
    },
    { toProblem: toRegistrationProblem, restoreKey: "register" },
  );
  const { refuse, clear, errorOf } = entry;
  const { newcomer, forget } = usePendingRegistration(entry.form);

  return (
    <AuthPage title={t("auth.registerTitle")} lead={t(newcomer ? "auth.newcomerLead" : "auth.registerLead")}>
      {newcomer && <PendingRegistrationNote provider={newcomer.provider} />}
      <AuthForm entry={entry} label={t("auth.createAccount")} busyLabel={t("auth.registering")}>
        <AvatarField
          input={picture}
          preview={avatar.preview}
          error={errorOf("avatar")}
          onChange={() => {
            clear("avatar");
            avatar.take();
          }}
        />
        <TextField
          id="displayName"
          label={t("auth.displayName")}
          error={errorOf("displayName")}
          autoComplete="name"
          autoCapitalize="words"
          maxLength={displayNameMaxLength}
          enterKeyHint="next"
        />
        <PhoneField hint={t("auth.phoneHint")} error={errorOf("phoneNumber")} autoComplete="tel" />
        <NewPasswordFields label={t("auth.password")} errorOf={errorOf} />
        {entry.box}
      </AuthForm>
      {!newcomer && <ProviderButtons onFailed={(error) => refuse(toLoginProblem(error))} />}
      <AuthFooterLink question={t("auth.haveAccount")} href="/login">
        {t("auth.logIn")}
      </AuthFooterLink>
    </AuthPage>
  );
}
