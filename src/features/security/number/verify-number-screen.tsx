import { type ReactNode, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { SettingsPage } from "#components/layout/settings-page.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import type { NumberMethod, NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { useFormat } from "#i18n/use-format.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { CodeStep } from "./code-step.tsx";
import { ContactStep } from "./contact-step.tsx";
import { ownNumberPath, parseOwnNumber, startProof } from "./number-api.ts";

const methodIcons: Record<NumberMethod, string> = {
  whatsapp_message: "i-ph-whatsapp-logo",
  missed_call: "i-ph-phone-outgoing",
  whatsapp_code: "i-ph-whatsapp-logo",
  sms_code: "i-ph-chat-text",
};

function Card({ children }: { children: ReactNode }) {
  return (
    <section className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface">
      {children}
    </section>
  );
}

/** The own number and whether it is verified. */
function NumberState({ own }: { own: OwnNumber }) {
  const { t } = useTranslation();
  const { date } = useFormat();
  const isVerified = own.verified_at !== null;
  const icon = isVerified ? "i-ph-seal-check text-accent" : "i-ph-seal-warning text-muted";
  return (
    <Card>
      <div className="flex items-center gap-3 p-4">
        <span className={`${icon} shrink-0 text-3xl`} aria-hidden="true" />
        <p role="status" className="flex min-w-0 flex-col">
          <PhoneNumber phone={own.phone} className="font-semibold" />
          <span className="text-muted">
            {own.verified_at === null ? t("people.unverified") : t("number.since", { date: date(own.verified_at) })}
          </span>
        </p>
      </div>
    </Card>
  );
}

type Started = { method: NumberMethod; proof: NumberProof };

/** Methods to choose from, then the step of the chosen one. */
function Verification({ own, onVerified }: { own: OwnNumber; onVerified: (own: OwnNumber) => void }) {
  const { t } = useTranslation();
  const [started, setStarted] = useState<Started>();
  const [pending, setPending] = useState<NumberMethod>();
  const [problem, setProblem] = useState<string>();
  const start = async (method: NumberMethod) => {
    setPending(method);
    setProblem(undefined);
    try {
      setStarted({ method, proof: await startProof(method) });
    } catch (error) {
      setProblem(toErrorText(error, t));
    }
    setPending(undefined);
  };
  const alert = problem !== undefined && (
    <p role="alert" className="px-4 text-danger">
      {problem}
    </p>
  );
  if (!started) {
    return (
      <>
        <p className="px-4">{t("number.choose")}</p>
        {alert}
        <div className="flex flex-col gap-3">
          {own.methods.map((method) => (
            <Button
              key={method}
              variant="secondary"
              busy={pending === method}
              disabled={pending !== undefined && pending !== method}
              onClick={() => void start(method)}
            >
              <span className="flex items-center justify-center gap-2">
                <span className={`${methodIcons[method]} shrink-0 text-xl`} aria-hidden="true" />
                {t(`number.methods.${method}`)}
              </span>
            </Button>
          ))}
        </div>
      </>
    );
  }
  const { method, proof } = started;
  return (
    <>
      <h2 ref={focusOnMount} tabIndex={-1} className="px-4 font-semibold focus-visible:outline-none">
        {t(`number.methods.${method}`)}
      </h2>
      {alert}
      <Card>
        {proof.ask.kind === "code" ? (
          <CodeStep
            key={proof.id}
            proof={proof}
            phone={own.phone}
            isBusy={pending !== undefined}
            onVerified={onVerified}
            onResend={() => void start(method)}
          />
        ) : (
          <ContactStep key={proof.id} ask={proof.ask} expiresAt={proof.expires_at} onVerified={onVerified} />
        )}
      </Card>
      <Button
        variant="quiet"
        disabled={pending !== undefined}
        onClick={() => {
          setStarted(undefined);
          setProblem(undefined);
        }}
      >
        {t("number.otherMethod")}
      </Button>
    </>
  );
}

/** Verification of the own number: its state, and the methods that the server offers. It can be left at any time. */
export default function VerifyNumberScreen() {
  const { t } = useTranslation();
  const [query, retry] = useRemoteQuery(ownNumberPath, true, parseOwnNumber);
  const [verified, setVerified] = useState<OwnNumber>();
  const showVerified = useCallback((own: OwnNumber) => setVerified(own), []);
  const own = verified ?? (query.state === "found" ? query.body : undefined);
  return (
    <SettingsPage title={t("number.title")} description={t("number.description")}>
      <p className="px-4">{t("number.body")}</p>
      {own && <NumberState own={own} />}
      {!own && query.state === "loading" && (
        <div className="grid min-h-40 place-items-center">
          <Spinner label={t("common.loading")} className="text-3xl text-accent" />
        </div>
      )}
      {!own && query.state !== "loading" && (
        <div role="status" className="flex flex-col items-center gap-3 p-4 text-center">
          <p>{t(`errors.${query.state === "failed" ? query.code : "not_found"}`)}</p>
          <Button variant="secondary" onClick={retry}>
            {t("common.retry")}
          </Button>
        </div>
      )}
      {own?.verified_at === null &&
        (own.methods.length === 0 ? (
          <p className="px-4 text-muted">{t("number.noMethods")}</p>
        ) : (
          <Verification own={own} onVerified={showVerified} />
        ))}
      <Link
        to="/app"
        className="inline-flex min-h-12 items-center justify-center rounded-card px-6 py-2 text-center font-semibold text-accent hover:bg-raised"
      >
        {t(own && own.verified_at !== null ? "number.done" : "number.later")}
      </Link>
    </SettingsPage>
  );
}
