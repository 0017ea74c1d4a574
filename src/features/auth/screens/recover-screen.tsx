import { type ComponentType, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { FormError } from "#components/auth/form-error.tsx";
import { Button, ButtonLink } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { mailedCodeDigits } from "#contract/limits/authentication.ts";
import { loadSecondFactorStep } from "#features/auth/flows/load-second-factor-step.ts";
import type { SecondFactorStepProps } from "#features/auth/flows/second-factor-step.tsx";
import type { TextKey } from "#i18n/setup.ts";
import {
  clearPendingSecondFactor,
  clearSecondFactorExpectation,
  findPendingSecondFactor,
  type PendingSecondFactor,
  savePendingSecondFactor,
} from "#lib/factors/pending-second-factor.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import {
  confirmMailedAddress,
  type MailedToken,
  parseMailedToken,
  redirectToRequester,
  signInByMailedCode,
  signInByRecoveryLink,
} from "#lib/session/recovery.ts";
import { getSession, type OpenedSession } from "#lib/session/session.ts";
import { AuthFooterLink, AuthPage } from "./auth-page.tsx";
import { MailLinkPrompt } from "./mail-link-prompt.tsx";
import { NewPasswordForm } from "./new-password-form.tsx";
import { RecoverCodeForm, RecoverMailForm } from "./recover-forms.tsx";
import { useDocumentMeta } from "./use-document-meta.ts";

type RecoveryStage =
  | { at: "mail" | "code" | "password" | "confirmed" }
  | { at: "sent"; email: string }
  | { at: "link"; mailed: MailedToken }
  | { at: "step"; pending: PendingSecondFactor; Step: ComponentType<SecondFactorStepProps> };

/**
 * Saves the stage for a reload, for instance when a phone discards the page while the user reads their mail. It is kept
 * in the history entry, which is private to this tab and not part of the URL.
 */
const saveStageInHistory = (saved: { mailed: MailedToken } | { sentTo: string } | { at: "password" } | null): void =>
  history.replaceState(saved, "", location.pathname);

const restoreStage = (): RecoveryStage | undefined => {
  const fromLink = parseMailedToken(location.hash);
  if (fromLink) {
    saveStageInHistory({ mailed: fromLink });
    return { at: "link", mailed: fromLink };
  }
  const saved: unknown = history.state;
  if (typeof saved !== "object" || saved === null) return undefined;
  if ("at" in saved && getSession()) return { at: "password" };
  if ("sentTo" in saved && typeof saved.sentTo === "string") return { at: "sent", email: saved.sentTo };
  if (!("mailed" in saved)) return undefined;
  const { type = "", token = "", redirect_to = "" } = saved.mailed as Partial<Record<keyof MailedToken, string>>;
  const mailed = parseMailedToken(`#${new URLSearchParams({ type, token, redirect_to })}`);
  return mailed && { at: "link", mailed };
};

/** Clears the saved stage if the server refused the mail link, so that a reload does not try it again. Rethrows. */
const clearStageIfLinkExpired = (error: unknown): never => {
  if (error instanceof ApiRequestError && error.code === "otp_expired") saveStageInHistory(null);
  throw error;
};

/** Password recovery (SPEC.md §7): mail or recovery code, then the second factor if required, then a new password. */
export default function RecoverScreen() {
  const { t } = useTranslation();
  useDocumentMeta(t("auth.recoverTitle"), t("auth.recoverDescription"));
  const [stage, setStage] = useState<RecoveryStage>({ at: "mail" });
  const [email, setEmail] = useState("");
  const [phone, setPhone] = useState("");
  const [problem, setProblem] = useState<TextKey>();

  /** Resumes the second-factor step after a reload; the mail link or code that led there is used up. */
  const resume = useEffectEvent(async () => {
    const pending = findPendingSecondFactor("recover");
    try {
      if (!pending) return;
      if (pending.begun === "mail") setEmail(pending.typed);
      else setPhone(pending.typed);
      const Step = await loadSecondFactorStep();
      setStage({ at: "step", pending, Step });
    } catch {
      setProblem("auth.offline");
    } finally {
      clearSecondFactorExpectation();
    }
  });

  // The prerendered page has no URL fragment; a mail link may also be opened in the tab that waits for it.
  useEffect(() => {
    const applyLocation = () => {
      const found = restoreStage();
      if (!found) return void resume();
      clearSecondFactorExpectation();
      setStage(found);
      if (found.at === "sent") setEmail(found.email);
    };
    applyLocation();
    addEventListener("hashchange", applyLocation);
    return () => removeEventListener("hashchange", applyLocation);
  }, []);

  const restart = (at: "mail" | "code") => {
    saveStageInHistory(null);
    setProblem(undefined);
    setStage({ at });
  };
  const cancelSecondFactor = ({ begun }: PendingSecondFactor) => {
    clearPendingSecondFactor();
    restart(begun === "code" ? "code" : "mail");
  };
  const showPasswordForm = () => {
    clearPendingSecondFactor();
    saveStageInHistory({ at: "password" });
    setStage({ at: "password" });
  };
  /** Opens a session. Loads the code of the second-factor step first, because the link or code works only once. */
  const signIn = async (begun: "mail" | "code", typed: string, openSession: () => Promise<OpenedSession>) => {
    const Step = await loadSecondFactorStep();
    const opened = await openSession();
    if (!opened.awaits) return showPasswordForm();
    const pending = { opened, begun, typed };
    savePendingSecondFactor(pending);
    saveStageInHistory(null);
    setProblem(undefined);
    setStage({ at: "step", pending, Step });
  };
  const restartButton = (
    <Button variant="quiet" onClick={() => restart("mail")}>
      {t("recover.again")}
    </Button>
  );

  switch (stage.at) {
    case "sent":
      return (
        <AuthPage title={t("recover.sentTitle")} lead={t("recover.sentLead", { email: stage.email })}>
          <div className="mt-6 flex flex-col gap-3">
            <CodeForm
              id="code"
              label={t("recover.code")}
              hint={t("recover.codeHint")}
              missingMessage={t("recover.codeMissing")}
              wrongMessage={t("recover.mailCodeWrong")}
              digits={mailedCodeDigits}
              submitCode={(code) => signIn("mail", stage.email, () => signInByMailedCode(stage.email, code))}
            />
            {restartButton}
          </div>
        </AuthPage>
      );
    case "link": {
      const { type, token, redirect_to } = stage.mailed;
      if (type === "recovery") {
        const signInHere = () => signIn("mail", email, () => signInByRecoveryLink(token));
        return (
          <AuthPage title={t("auth.recoverTitle")} lead={t("recover.linkLead")}>
            <MailLinkPrompt
              label={t("auth.secondStep.go")}
              busyLabel={t("auth.secondStep.checking")}
              redeem={() =>
                (redirect_to ? redirectToRequester(token, redirect_to) : signInHere()).catch(clearStageIfLinkExpired)
              }
            >
              {restartButton}
            </MailLinkPrompt>
          </AuthPage>
        );
      }
      const confirm = async () => {
        await confirmMailedAddress(token).catch(clearStageIfLinkExpired);
        saveStageInHistory(null);
        setStage({ at: "confirmed" });
      };
      return (
        <AuthPage title={t("recover.confirmTitle")} lead={t("recover.confirmLead")}>
          <MailLinkPrompt label={t("recover.confirm")} busyLabel={t("recover.confirming")} redeem={confirm}>
            <ButtonLink variant="secondary" href="/app/security">
              {t("recover.openSecurity")}
            </ButtonLink>
          </MailLinkPrompt>
        </AuthPage>
      );
    }
    case "confirmed":
      return (
        <AuthPage title={t("recover.confirmedTitle")} lead={t("recover.confirmedLead")}>
          <ButtonLink ref={focusOnMount} href="/app" className="mt-6 w-full">
            {t("recover.open")}
          </ButtonLink>
        </AuthPage>
      );
    case "step":
      return (
        <AuthPage title={t("auth.secondStep.title")} lead={t("recover.stepLead")}>
          <div className="mt-6">
            <stage.Step
              opened={stage.pending.opened}
              onVerified={showPasswordForm}
              onCancel={() => cancelSecondFactor(stage.pending)}
              onExpired={() => {
                cancelSecondFactor(stage.pending);
                setProblem("recover.tooLate");
              }}
            />
          </div>
        </AuthPage>
      );
    case "password":
      return (
        <AuthPage title={t("recover.passwordTitle")} lead={t("recover.passwordLead")}>
          <NewPasswordForm />
        </AuthPage>
      );
    default: {
      const isByCode = stage.at === "code";
      return (
        <AuthPage title={t("auth.recoverTitle")} lead={t(isByCode ? "recover.codeLead" : "recover.lead")}>
          <FormError className="mt-6">{problem && t(problem)}</FormError>
          {isByCode ? (
            <RecoverCodeForm
              phone={phone}
              signIn={(typed, openSession) => {
                setPhone(typed);
                return signIn("code", typed, openSession);
              }}
            />
          ) : (
            <RecoverMailForm
              email={email}
              onSent={(typed) => {
                setEmail(typed);
                saveStageInHistory({ sentTo: typed });
                setStage({ at: "sent", email: typed });
              }}
            />
          )}
          <Button variant="quiet" className="mt-3 w-full" onClick={() => restart(isByCode ? "mail" : "code")}>
            {t(isByCode ? "recover.byMail" : "recover.byCode")}
          </Button>
          <AuthFooterLink question={t("recover.passkeyQuestion")} href="/login">
            {t("recover.passkeyLink")}
          </AuthFooterLink>
          <p className="mt-4 text-sm text-muted">{t("recover.noWay")}</p>
        </AuthPage>
      );
    }
  }
}
