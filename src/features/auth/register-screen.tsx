import { useEffect, useRef } from "react";
import { displayNameMaxLength } from "../../../contract/limits";
import { Button } from "../../components/button";
import { PasswordField } from "../../components/password-field";
import { TextField } from "../../components/text-field";
import { showToast } from "../../components/toast";
import { t as now, useT } from "../../i18n/setup";
import { ApiFailure } from "../../lib/exchange";
import { leaveNotice } from "../../lib/notice";
import { AvatarField } from "./avatar-field";
import { createAccountOpener, setUpProfile } from "./create-account";
import { EntryFrame, OtherWay } from "./entry-frame";
import { isNewcomerRefusal, toLoginProblem, toRegistrationProblem } from "./failure-problem";
import { FormError } from "./form-error";
import { NewcomerNote } from "./newcomer-note";
import { ProviderButtons } from "./provider-buttons";
import { RobotBox } from "./robot-box";
import { useAvatar } from "./use-avatar";
import { useDocumentTexts } from "./use-document-texts";
import { useEntryForm } from "./use-entry-form";
import { useNewcomer } from "./use-newcomer";
import { useRobotCheck } from "./use-robot-check";
import { validateRegistration } from "./validate-registration";

const read = (form: HTMLFormElement) => {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "");
  return {
    displayName: text("displayName"),
    phoneNumber: text("phoneNumber"),
    password: text("password"),
    confirmPassword: text("confirmPassword"),
    isNoRobot: data.has("robot"),
  };
};

/** SPEC.md §2 and §5: a name, a picture, a number, a password, and proof of being no robot. */
export default function RegisterScreen() {
  const t = useT();
  useDocumentTexts(t("auth.registerTitle"), t("auth.registerDescription"));
  const picture = useRef<HTMLInputElement>(null);
  const robotInput = useRef<HTMLInputElement>(null);
  const openAccount = useRef(createAccountOpener());
  const robot = useRobotCheck();
  const avatar = useAvatar(picture, ({ title, message }) => {
    showToast({ title: now(title), message: now(message), tone: "danger" });
  });

  const { form, isBusy, onSubmit, refuse, clear, errorOf } = useEntryForm(async (element) => {
    const typed = read(element);
    const blob = await avatar.getBlob();
    const problem = validateRegistration({ ...typed, hasAvatar: blob !== undefined });
    if (problem || !blob) return refuse(problem ?? { field: "avatar", text: "auth.profilePictureRequired" });
    const account = {
      phone: typed.phoneNumber,
      password: typed.password,
      username: typed.displayName,
      ...(newcomer && { identity: newcomer.identity }),
    };
    try {
      await openAccount.current(account, await robot.spend()).catch(async (error: unknown) => {
        // The proof ran out on the way: another one, without a word.
        if (!(error instanceof ApiFailure) || error.code !== "captcha_failed") throw error;
        await openAccount.current(account, await robot.spend());
      });
    } catch (error) {
      if (newcomer && isNewcomerRefusal(error)) forget();
      refuse(toRegistrationProblem(error));
      robot.start();
      return;
    }
    forget();
    const isComplete = await setUpProfile(account.username, blob);
    leaveNotice(
      isComplete
        ? { message: now("auth.accountCreated") }
        : { title: now("auth.accountCreatedTitle"), message: now("auth.profileIncomplete") },
    );
    location.replace("/app");
  });

  const { newcomer, forget } = useNewcomer(form);

  // What was chosen and ticked before the script arrived.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, on arrival
  useEffect(() => {
    if (picture.current?.files?.length) avatar.take();
    if (robotInput.current?.checked) robot.start();
  }, []);

  return (
    <EntryFrame title={t("auth.registerTitle")} lead={t(newcomer ? "auth.newcomerLead" : "auth.registerLead")}>
      {newcomer && <NewcomerNote provider={newcomer.provider} />}
      <form ref={form} method="post" noValidate onSubmit={onSubmit} className="mt-6 flex flex-col gap-5">
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
        <TextField
          id="phoneNumber"
          label={t("auth.phoneNumber")}
          hint={t("auth.phoneHint")}
          error={errorOf("phoneNumber")}
          type="tel"
          inputMode="tel"
          autoComplete="tel"
          placeholder="243810000000"
          maxLength={40}
          enterKeyHint="next"
        />
        <PasswordField
          id="password"
          label={t("auth.password")}
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
        <FormError error={errorOf("form")} />
        <Button type="submit" busy={isBusy} busyLabel={t("auth.registering")}>
          {t("auth.createAccount")}
        </Button>
      </form>
      {!newcomer && <ProviderButtons onFailed={(error) => refuse(toLoginProblem(error))} />}
      <OtherWay question={t("auth.haveAccount")} href="/login">
        {t("auth.logIn")}
      </OtherWay>
    </EntryFrame>
  );
}
