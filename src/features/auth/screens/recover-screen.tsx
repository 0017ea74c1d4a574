import { type ComponentType, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { FormError } from "#components/auth/form-error.tsx";
import { Button, ButtonLink } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { mailedCodeDigits } from "#contract/limits.ts";
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
  | { at: "step"; owing: PendingSecondFactor; SecondStep: ComponentType<SecondFactorStepProps> };

/**
 * What a reload goes on from, as when a phone let the page go while somebody read their mail. It stands in the history's
 * entry, which is nobody's but this tab's, and in no address.
 */
const saveStageInHistory = (kept: { mailed: MailedToken } | { sentTo: string } | { at: "password" } | null): void =>
  history.replaceState(kept, "", location.pathname);

const restoreStage = (): RecoveryStage | undefined => {
  const arrived = parseMailedToken(location.hash);
  if (arrived) {
    saveStageInHistory({ mailed: arrived });
    return { at: "link", mailed: arrived };
  }
  const kept: unknown = history.state;
  if (typeof kept !== "object" || kept === null) return undefined;
  if ("at" in kept && getSession()) return { at: "password" };
  if ("sentTo" in kept && typeof kept.sentTo === "string") return { at: "sent", email: kept.sentTo };
  if (!("mailed" in kept)) return undefined;
  const { type = "", token = "", redirect_to = "" } = kept.mailed as Partial<Record<keyof MailedToken, string>>;
  const mailed = parseMailedToken(`#${new URLSearchParams({ type, token, redirect_to })}`);
  return mailed && { at: "link", mailed };
};

/** A mail's link that the server refused is good for nothing any more, and a reload does not ask for it again. */
const clearStageIfLinkExpired = (error: unknown): never => {
  if (error instanceof ApiRequestError && error.code === "otp_expired") saveStageInHistory(null);
  throw error;
};

/** SPEC.md §7, password recovery: by mail or by a recovery code, then the second step where one is asked, then a new password. */
export default function RecoverScreen() {
  const { t } = useTranslation();
  useDocumentMeta(t("auth.recoverTitle"), t("auth.recoverDescription"));
  const [stage, setStage] = useState<RecoveryStage>({ at: "mail" });
  const [email, setEmail] = useState("");
  const [phone, setPhone] = useState("");
  const [problem, setProblem] = useState<TextKey>();

  /** A phone let the page go at the second step: what had led there is used up. */
  const resume = useEffectEvent(async () => {
    const owing = findPendingSecondFactor("recover");
    try {
      if (!owing) return;
      if (owing.begun === "mail") setEmail(owing.typed);
      else setPhone(owing.typed);
      const SecondStep = await loadSecondFactorStep();
      setStage({ at: "step", owing, SecondStep });
    } catch {
      setProblem("auth.offline");
    } finally {
      clearSecondFactorExpectation();
    }
  });

  // The page is prerendered without its fragment; a mail's link may also be opened in the tab that waits for it.
  useEffect(() => {
    const take = () => {
      const found = restoreStage();
      if (!found) return void resume();
      clearSecondFactorExpectation();
      setStage(found);
      if (found.at === "sent") setEmail(found.email);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const begin = (at: "mail" | "code") => {
    saveStageInHistory(null);
    setProblem(undefined);
    setStage({ at });
  };
  const leaveStep = ({ begun }: PendingSecondFactor) => {
    clearPendingSecondFactor();
    begin(begun === "code" ? "code" : "mail");
  };
  const choosePassword = () => {
    clearPendingSecondFactor();
    saveStageInHistory({ at: "password" });
    setStage({ at: "password" });
  };
  /** What the step needs is fetched first: what opens the session is good once. */
  const open = async (begun: "mail" | "code", typed: string, start: () => Promise<OpenedSession>) => {
    const SecondStep = await loadSecondFactorStep();
    const opened = await start();
    if (!opened.awaits) return choosePassword();
    const owing = { opened, begun, typed };
    savePendingSecondFactor(owing);
    saveStageInHistory(null);
    setProblem(undefined);
    setStage({ at: "step", owing, SecondStep });
  };
  const again = (
    <Button variant="quiet" onClick={() => begin("mail")}>
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
              submitCode={(code) => open("mail", stage.email, () => signInByMailedCode(stage.email, code))}
            />
            {again}
          </div>
        </AuthPage>
      );
    case "link": {
      const { type, token, redirect_to } = stage.mailed;
      if (type === "recovery") {
        const openHere = () => open("mail", email, () => signInByRecoveryLink(token));
        return (
          <AuthPage title={t("auth.recoverTitle")} lead={t("recover.linkLead")}>
            <MailLinkPrompt
              label={t("auth.secondStep.go")}
              busyLabel={t("auth.secondStep.checking")}
              redeem={() =>
                (redirect_to ? redirectToRequester(token, redirect_to) : openHere()).catch(clearStageIfLinkExpired)
              }
            >
              {again}
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
            <stage.SecondStep
              opened={stage.owing.opened}
              onVerified={choosePassword}
              onCancel={() => leaveStep(stage.owing)}
              onExpired={() => {
                leaveStep(stage.owing);
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
              open={(typed, start) => {
                setPhone(typed);
                return open("code", typed, start);
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
          <Button variant="quiet" className="mt-3 w-full" onClick={() => begin(isByCode ? "mail" : "code")}>
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
