import { type ComponentType, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { ProblemNote } from "#components/auth/form-error.tsx";
import { Button, ButtonLink } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { takeFocus } from "#components/focus/take-focus.ts";
import { mailedCodeDigits } from "#contract/limits.ts";
import { loadSecondStep } from "#features/auth/flows/lazy-second-step.ts";
import type { SecondStepProps } from "#features/auth/flows/second-step.tsx";
import type { TextKey } from "#i18n/setup.ts";
import { endExpectation, findOwing, forgetOwing, keepOwing, type Owing } from "#lib/factors/pending-second-factor.ts";
import { ApiFailure } from "#lib/http/http-request.ts";
import {
  confirmAddress,
  goOnward,
  type Mailed,
  openByLink,
  openByMailedCode,
  readMailed,
} from "#lib/session/recovery.ts";
import { getSession, type Opened } from "#lib/session/session.ts";
import { EntryFrame, OtherWay } from "./entry-frame.tsx";
import { NewPasswordForm } from "./new-password-form.tsx";
import { RecoverCodeForm, RecoverMailForm } from "./recover-forms.tsx";
import { RecoverLink } from "./recover-link.tsx";
import { useDocumentTexts } from "./use-document-texts.ts";

type Stage =
  | { at: "mail" | "code" | "password" | "confirmed" }
  | { at: "sent"; email: string }
  | { at: "link"; mailed: Mailed }
  | { at: "step"; owing: Owing; SecondStep: ComponentType<SecondStepProps> };

/**
 * What a reload goes on from, as when a phone let the page go while somebody read their mail. It stands in the history's
 * entry, which is nobody's but this tab's, and in no address.
 */
const keepStage = (kept: { mailed: Mailed } | { sentTo: string } | { at: "password" } | null): void =>
  history.replaceState(kept, "", location.pathname);

const findStage = (): Stage | undefined => {
  const arrived = readMailed(location.hash);
  if (arrived) {
    keepStage({ mailed: arrived });
    return { at: "link", mailed: arrived };
  }
  const kept: unknown = history.state;
  if (typeof kept !== "object" || kept === null) return undefined;
  if ("at" in kept && getSession()) return { at: "password" };
  if ("sentTo" in kept && typeof kept.sentTo === "string") return { at: "sent", email: kept.sentTo };
  if (!("mailed" in kept)) return undefined;
  const { type = "", token = "", redirect_to = "" } = kept.mailed as Partial<Record<keyof Mailed, string>>;
  const mailed = readMailed(`#${new URLSearchParams({ type, token, redirect_to })}`);
  return mailed && { at: "link", mailed };
};

/** A mail's link that the server refused is good for nothing any more, and a reload does not ask for it again. */
const dropRefused = (error: unknown): never => {
  if (error instanceof ApiFailure && error.code === "otp_expired") keepStage(null);
  throw error;
};

/** SPEC.md §7, password recovery: by mail or by a recovery code, then the second step where one is asked, then a new password. */
export default function RecoverScreen() {
  const { t } = useTranslation();
  useDocumentTexts(t("auth.recoverTitle"), t("auth.recoverDescription"));
  const [stage, setStage] = useState<Stage>({ at: "mail" });
  const [email, setEmail] = useState("");
  const [phone, setPhone] = useState("");
  const [problem, setProblem] = useState<TextKey>();

  /** A phone let the page go at the second step: what had led there is used up. */
  const resume = useEffectEvent(async () => {
    const owing = findOwing("recover");
    try {
      if (!owing) return;
      if (owing.begun === "mail") setEmail(owing.typed);
      else setPhone(owing.typed);
      const SecondStep = await loadSecondStep();
      setStage({ at: "step", owing, SecondStep });
    } catch {
      setProblem("auth.offline");
    } finally {
      endExpectation();
    }
  });

  // The page is prerendered without its fragment; a mail's link may also be opened in the tab that waits for it.
  useEffect(() => {
    const take = () => {
      const found = findStage();
      if (!found) return void resume();
      endExpectation();
      setStage(found);
      if (found.at === "sent") setEmail(found.email);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const begin = (at: "mail" | "code") => {
    keepStage(null);
    setProblem(undefined);
    setStage({ at });
  };
  const leaveStep = ({ begun }: Owing) => {
    forgetOwing();
    begin(begun === "code" ? "code" : "mail");
  };
  const choosePassword = () => {
    forgetOwing();
    keepStage({ at: "password" });
    setStage({ at: "password" });
  };
  /** What the step needs is fetched first: what opens the session is good once. */
  const open = async (begun: "mail" | "code", typed: string, start: () => Promise<Opened>) => {
    const SecondStep = await loadSecondStep();
    const opened = await start();
    if (!opened.awaits) return choosePassword();
    const owing = { opened, begun, typed };
    keepOwing(owing);
    keepStage(null);
    setProblem(undefined);
    setStage({ at: "step", owing, SecondStep });
  };
  const again = (
    <Button look="quiet" onClick={() => begin("mail")}>
      {t("recover.again")}
    </Button>
  );

  switch (stage.at) {
    case "sent":
      return (
        <EntryFrame title={t("recover.sentTitle")} lead={t("recover.sentLead", { email: stage.email })}>
          <div className="mt-6 flex flex-col gap-3">
            <CodeForm
              id="code"
              label={t("recover.code")}
              hint={t("recover.codeHint")}
              missing={t("recover.codeMissing")}
              wrong={t("recover.mailCodeWrong")}
              digits={mailedCodeDigits}
              send={(code) => open("mail", stage.email, () => openByMailedCode(stage.email, code))}
            />
            {again}
          </div>
        </EntryFrame>
      );
    case "link": {
      const { type, token, redirect_to } = stage.mailed;
      if (type === "recovery") {
        const openHere = () => open("mail", email, () => openByLink(token));
        return (
          <EntryFrame title={t("auth.recoverTitle")} lead={t("recover.linkLead")}>
            <RecoverLink
              label={t("auth.secondStep.go")}
              busyLabel={t("auth.secondStep.checking")}
              use={() => (redirect_to ? goOnward(token, redirect_to) : openHere()).catch(dropRefused)}
            >
              {again}
            </RecoverLink>
          </EntryFrame>
        );
      }
      const confirm = async () => {
        await confirmAddress(token).catch(dropRefused);
        keepStage(null);
        setStage({ at: "confirmed" });
      };
      return (
        <EntryFrame title={t("recover.confirmTitle")} lead={t("recover.confirmLead")}>
          <RecoverLink label={t("recover.confirm")} busyLabel={t("recover.confirming")} use={confirm}>
            <ButtonLink look="secondary" href="/app/security">
              {t("recover.openSecurity")}
            </ButtonLink>
          </RecoverLink>
        </EntryFrame>
      );
    }
    case "confirmed":
      return (
        <EntryFrame title={t("recover.confirmedTitle")} lead={t("recover.confirmedLead")}>
          <ButtonLink ref={takeFocus} href="/app" className="mt-6 w-full">
            {t("recover.open")}
          </ButtonLink>
        </EntryFrame>
      );
    case "step":
      return (
        <EntryFrame title={t("auth.secondStep.title")} lead={t("recover.stepLead")}>
          <div className="mt-6">
            <stage.SecondStep
              opened={stage.owing.opened}
              onDone={choosePassword}
              onCancel={() => leaveStep(stage.owing)}
              onOver={() => {
                leaveStep(stage.owing);
                setProblem("recover.tooLate");
              }}
            />
          </div>
        </EntryFrame>
      );
    case "password":
      return (
        <EntryFrame title={t("recover.passwordTitle")} lead={t("recover.passwordLead")}>
          <NewPasswordForm />
        </EntryFrame>
      );
    default: {
      const isByCode = stage.at === "code";
      return (
        <EntryFrame title={t("auth.recoverTitle")} lead={t(isByCode ? "recover.codeLead" : "recover.lead")}>
          <ProblemNote className="mt-6">{problem && t(problem)}</ProblemNote>
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
                keepStage({ sentTo: typed });
                setStage({ at: "sent", email: typed });
              }}
            />
          )}
          <Button look="quiet" className="mt-3 w-full" onClick={() => begin(isByCode ? "mail" : "code")}>
            {t(isByCode ? "recover.byMail" : "recover.byCode")}
          </Button>
          <OtherWay question={t("recover.passkeyQuestion")} href="/login">
            {t("recover.passkeyLink")}
          </OtherWay>
          <p className="mt-4 text-sm text-muted">{t("recover.noWay")}</p>
        </EntryFrame>
      );
    }
  }
}
