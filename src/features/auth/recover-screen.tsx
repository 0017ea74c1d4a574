import { type ComponentType, useEffect, useState } from "react";
import { Button, ButtonLink } from "../../components/button";
import { CodeForm } from "../../components/code-form";
import { useT } from "../../i18n/setup";
import { ApiFailure } from "../../lib/exchange";
import { confirmAddress, type Mailed, openByLink, openByMailedCode, readMailed } from "../../lib/recovery";
import { getSession, type Opened } from "../../lib/session";
import { EntryFrame, OtherWay } from "./entry-frame";
import { NewPasswordForm } from "./new-password-form";
import { RecoverCodeForm, RecoverMailForm } from "./recover-forms";
import { RecoverLink } from "./recover-link";
import type { SecondStepProps } from "./second-step";
import { useDocumentTexts } from "./use-document-texts";

const mailedCodeDigits = 8;

type Stage =
  | { at: "mail" | "code" | "password" | "confirmed" }
  | { at: "sent"; email: string }
  | { at: "link"; mailed: Mailed }
  | { at: "step"; opened: Opened; SecondStep: ComponentType<SecondStepProps> };

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
  const { type, token } = kept.mailed as Partial<Record<keyof Mailed, string>>;
  const mailed = readMailed(`#${new URLSearchParams({ type: type ?? "", token: token ?? "" })}`);
  return mailed && { at: "link", mailed };
};

const loadSecondStep = () =>
  import("./second-step").catch(() => {
    throw new ApiFailure("offline", 0);
  });

/** SPEC.md §7, password recovery: by mail or by a recovery code, then the second step where one is asked, then a new password. */
export default function RecoverScreen() {
  const t = useT();
  useDocumentTexts(t("auth.recoverTitle"), t("auth.recoverDescription"));
  const [stage, setStage] = useState<Stage>({ at: "mail" });
  const [email, setEmail] = useState("");

  // The page is prerendered without its fragment; a mail's link may also be opened in the tab that waits for it.
  useEffect(() => {
    const take = () => {
      const found = findStage();
      if (!found) return;
      setStage(found);
      if (found.at === "sent") setEmail(found.email);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const begin = (at: "mail" | "code") => {
    keepStage(null);
    setStage({ at });
  };
  const choosePassword = () => {
    keepStage({ at: "password" });
    setStage({ at: "password" });
  };
  /** What the step needs is fetched first: what opens the session is good once. */
  const open = async (start: () => Promise<Opened>) => {
    const { default: SecondStep } = await loadSecondStep();
    const opened = await start();
    if (!opened.awaits) return choosePassword();
    keepStage(null);
    setStage({ at: "step", opened, SecondStep });
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
              send={(code) => open(() => openByMailedCode(stage.email, code))}
            />
            {again}
          </div>
        </EntryFrame>
      );
    case "link": {
      const { type, token } = stage.mailed;
      if (type === "recovery") {
        return (
          <EntryFrame title={t("auth.recoverTitle")} lead={t("recover.linkLead")}>
            <RecoverLink
              label={t("auth.secondStep.go")}
              busyLabel={t("auth.secondStep.checking")}
              use={() => open(() => openByLink(token))}
            >
              {again}
            </RecoverLink>
          </EntryFrame>
        );
      }
      const confirm = async () => {
        await confirmAddress(token);
        keepStage(null);
        setStage({ at: "confirmed" });
      };
      return (
        <EntryFrame title={t("recover.confirmTitle")} lead={t("recover.confirmLead")}>
          <RecoverLink label={t("recover.confirm")} busyLabel={t("recover.confirming")} use={confirm}>
            <ButtonLink look="quiet" href="/app">
              {t("recover.open")}
            </ButtonLink>
          </RecoverLink>
        </EntryFrame>
      );
    }
    case "confirmed":
      return (
        <EntryFrame title={t("recover.confirmedTitle")} lead={t("recover.confirmedLead")}>
          <ButtonLink href="/app" className="mt-6 w-full">
            {t("recover.open")}
          </ButtonLink>
        </EntryFrame>
      );
    case "step":
      return (
        <EntryFrame title={t("auth.secondStep.title")} lead={t("recover.stepLead")}>
          <div className="mt-6">
            <stage.SecondStep opened={stage.opened} onDone={choosePassword} onCancel={() => begin("mail")} />
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
          {isByCode ? (
            <RecoverCodeForm open={open} />
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
