import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type PictureCropper from "#components/controls/picture-cropper.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { toE164 } from "#contract/phone/phone.ts";
import { createIdempotentSignUp, uploadInitialProfile } from "#features/auth/flows/create-account.ts";
import { toLoginProblem } from "#features/auth/flows/login-problem.ts";
import { PendingRegistrationNote, usePendingRegistration } from "#features/auth/flows/pending-registration.tsx";
import { ProviderButtons } from "#features/auth/flows/provider-buttons.tsx";
import { AuthForm } from "#features/auth/form/auth-form.tsx";
import { AvatarField } from "#features/auth/form/avatar-field.tsx";
import { type FormProblem, toFormProblem } from "#features/auth/form/form-problem.ts";
import { NewPasswordFields } from "#features/auth/form/new-password-fields.tsx";
import { PhoneField } from "#features/auth/form/phone-field.tsx";
import { getFormText } from "#features/auth/form/use-auth-form.ts";
import { useAvatarInput } from "#features/auth/form/use-avatar-input.ts";
import { useCaptchaForm } from "#features/auth/form/use-captcha-form.tsx";
import { validateRegistration } from "#features/auth/form/validate-registration.ts";
import { t as translate } from "#i18n/setup.ts";
import { ApiRequestError, toErrorCode } from "#lib/http/http-request.ts";
import { undecodableAvatar } from "#lib/media/avatar-file.ts";
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
  const isUserMissing = error instanceof ApiRequestError && error.code === "unavailable" && error.status === 200;
  if (isUserMissing) return { field: "form", text: "auth.userNotCreated" }; // SPEC.md §8
  return toFormProblem(error, {
    phone_exists: { field: "phoneNumber", text: "auth.phoneAlreadyRegistered" },
    common_password: { field: "password", text: "errors.common_password" },
    weak_password: { field: "password", text: "auth.passwordRequirement" },
    invalid_name: { field: "displayName", text: "errors.invalid_name" },
    mixed_name: { field: "displayName", text: "errors.mixed_name" },
    reserved_name: { field: "displayName", text: "errors.reserved_name" },
    flow_state_not_found: { field: "form", text: "auth.newcomerExpired" },
  });
};

/** True if the provider's identity was refused: the account can still be created without it. */
const isIdentityRefused = (error: unknown): boolean =>
  ["flow_state_not_found", "bad_code_verifier", "identity_already_exists"].includes(toErrorCode(error));

/** Registration page (SPEC.md §2 and §5): name, picture, phone number, password and captcha. */
export default function RegisterScreen() {
  const { t } = useTranslation();
  useDocumentMeta(t("auth.registerTitle"), t("auth.registerDescription"));
  const picture = useRef<HTMLInputElement>(null);
  const signUp = useRef(createIdempotentSignUp());
  const avatar = useAvatarInput(picture, ({ title, message }) => {
    showToast({ title: translate(title), message: translate(message), tone: "danger" });
  });

  const [cropper, setCropper] = useState<{ Cropper: typeof PictureCropper; file: File }>();
  const openCropper = async () => {
    try {
      const { default: Cropper } = await import("#components/controls/picture-cropper.tsx");
      const file = avatar.getFile();
      if (file) setCropper({ Cropper, file });
    } catch {
      showToast({ title: translate("common.error"), message: translate("errors.offline"), tone: "danger" });
    }
  };
  const closeCropper = () => setCropper(undefined);

  const authForm = useCaptchaForm(
    signUpCaptcha,
    async (data, prove) => {
      const input = readRegistrationForm(data);
      const blob = await avatar.getBlob();
      const problem = validateRegistration({ ...input, hasAvatar: blob !== undefined });
      if (problem || !blob) return problem ?? { field: "avatar", text: "auth.profilePictureRequired" };
      const account = {
        phone: input.phoneNumber,
        password: input.password,
        username: input.displayName,
        ...(registration && { identity: registration.identity }),
      };
      try {
        await prove((token) => signUp.current(account, token));
      } catch (error) {
        if (registration && isIdentityRefused(error)) clearRegistration();
        throw error;
      }
      clearRegistration();
      const isProfileStored = await uploadInitialProfile(account.username, blob);
      saveFlashMessage(
        isProfileStored
          ? { message: translate("auth.accountCreated") }
          : { title: translate("auth.accountCreatedTitle"), message: translate("auth.profileIncomplete") },
      );
      location.replace("/app");
      return undefined;
    },
    { toProblem: toRegistrationProblem, restoreKey: "register" },
  );
  const { showProblem, clearProblem, errorOf } = authForm;
  const { registration, clearRegistration } = usePendingRegistration(authForm.form);

  return (
    <AuthPage title={t("auth.registerTitle")} lead={t("auth.registerLead")}>
      {registration && <PendingRegistrationNote provider={registration.provider} />}
      <AuthForm authForm={authForm} label={t("auth.createAccount")} busyLabel={t("auth.registering")}>
        <AvatarField
          input={picture}
          preview={avatar.preview}
          error={errorOf("avatar")}
          onChange={() => {
            clearProblem("avatar");
            closeCropper();
            avatar.readFile();
          }}
          onCrop={() => void openCropper()}
        />
        {cropper && (
          <cropper.Cropper
            file={cropper.file}
            onDone={(square) => {
              avatar.setCropped(square);
              closeCropper();
            }}
            onUnreadable={() => {
              avatar.refuse(undecodableAvatar);
              closeCropper();
            }}
          />
        )}
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
        {authForm.captcha}
      </AuthForm>
      {!registration && <ProviderButtons onFailed={(error) => showProblem(toLoginProblem(error))} />}
      <AuthFooterLink question={t("auth.haveAccount")} href="/login">
        {t("auth.logIn")}
      </AuthFooterLink>
    </AuthPage>
  );
}
