import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#components/controls/text-field.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { displayNameMaxLength } from "#contract/limits.ts";
import { toE164 } from "#contract/phone.ts";
import { createAccountOpener, setUpProfile } from "#features/auth/flows/create-account.ts";
import { toLoginProblem } from "#features/auth/flows/login-problem.ts";
import { NewcomerNote } from "#features/auth/flows/newcomer-note.tsx";
import { ProviderButtons } from "#features/auth/flows/provider-buttons.tsx";
import { useNewcomer } from "#features/auth/flows/use-newcomer.ts";
import { AvatarField } from "#features/auth/form/avatar-field.tsx";
import { EntryForm } from "#features/auth/form/entry-form.tsx";
import { type Problem, toProblem } from "#features/auth/form/form-problem.ts";
import { NewPasswordFields } from "#features/auth/form/new-password-fields.tsx";
import { PhoneField } from "#features/auth/form/phone-field.tsx";
import { useAvatar } from "#features/auth/form/use-avatar.ts";
import { textOf } from "#features/auth/form/use-entry-form.ts";
import { useGuardedForm } from "#features/auth/form/use-guarded-form.tsx";
import { validateRegistration } from "#features/auth/form/validate-registration.ts";
import { t as now } from "#i18n/setup.ts";
import { ApiFailure, failureCode } from "#lib/http/http-request.ts";
import { leaveNotice } from "#lib/session/flash-message.ts";
import { EntryFrame, OtherWay } from "./entry-frame.tsx";
import { useDocumentTexts } from "./use-document-texts.ts";

const read = (data: FormData) => ({
  displayName: textOf(data, "displayName"),
  phoneNumber: textOf(data, "phoneNumber"),
  password: textOf(data, "password"),
  confirmPassword: textOf(data, "confirmPassword"),
  isNoRobot: data.has("robot"),
});

const guard = {
  action: "sign_up",
  field: "phoneNumber",
  isComplete: (typed: string) => toE164(typed) !== undefined,
} as const;

const explain = (error: unknown): Problem => {
  const isWithoutUser = error instanceof ApiFailure && error.code === "unavailable" && error.status === 200;
  if (isWithoutUser) return { field: "form", text: "auth.userNotCreated" }; // SPEC.md §8
  return toProblem(error, {
    phone_exists: { field: "phoneNumber", text: "auth.phoneAlreadyRegistered" },
    common_password: { field: "password", text: "errors.common_password" },
    weak_password: { field: "password", text: "auth.passwordRequirement" },
    invalid_name: { field: "displayName", text: "errors.invalid_name" },
    reserved_name: { field: "displayName", text: "errors.reserved_name" },
    flow_state_not_found: { field: "form", text: "auth.newcomerExpired" },
  });
};

/** What came back from a provider is worth nothing any more: the account can be made without. */
const isNewcomerRefusal = (error: unknown): boolean =>
  ["flow_state_not_found", "bad_code_verifier", "identity_already_exists"].includes(failureCode(error));

/** SPEC.md §2 and §5: a name, a picture, a number, a password, and proof of being no robot. */
export default function RegisterScreen() {
  const { t } = useTranslation();
  useDocumentTexts(t("auth.registerTitle"), t("auth.registerDescription"));
  const picture = useRef<HTMLInputElement>(null);
  const openAccount = useRef(createAccountOpener());
  const avatar = useAvatar(picture, ({ title, message }) => {
    showToast({ title: now(title), message: now(message), tone: "danger" });
  });

  const entry = useGuardedForm(
    guard,
    async (data, prove) => {
      const typed = read(data);
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
        if (newcomer && isNewcomerRefusal(error)) forget();
        throw error;
      }
      forget();
      const isComplete = await setUpProfile(account.username, blob);
      leaveNotice(
        isComplete
          ? { message: now("auth.accountCreated") }
          : { title: now("auth.accountCreatedTitle"), message: now("auth.profileIncomplete") },
      );
      location.replace("/app");
      return undefined;
    },
    { explain, keeps: "register" },
  );
  const { refuse, clear, errorOf } = entry;
  const { newcomer, forget } = useNewcomer(entry.form);

  return (
    <EntryFrame title={t("auth.registerTitle")} lead={t(newcomer ? "auth.newcomerLead" : "auth.registerLead")}>
      {newcomer && <NewcomerNote provider={newcomer.provider} />}
      <EntryForm entry={entry} label={t("auth.createAccount")} busyLabel={t("auth.registering")}>
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
      </EntryForm>
      {!newcomer && <ProviderButtons onFailed={(error) => refuse(toLoginProblem(error))} />}
      <OtherWay question={t("auth.haveAccount")} href="/login">
        {t("auth.logIn")}
      </OtherWay>
    </EntryFrame>
  );
}
