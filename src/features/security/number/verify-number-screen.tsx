import { Fragment, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { useStepUp } from "#components/auth/reauthenticate.tsx";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { PendingContent } from "#components/layout/pending-content.tsx";
import { SettingsPage } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { type NewNumberMethods, type NumberMethod, type OwnNumber, sendsCode } from "#contract/auth/number.ts";
import { Allowance } from "#contract/settings/trust-tiers.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { ownNumberPath, parseOwnNumber } from "#sync/people/own-number.ts";
import { CodeStep } from "./code-step.tsx";
import { ContactStep } from "./contact-step.tsx";
import { NewNumberForm } from "./new-number-form.tsx";
import { fetchOwnNumber, startProof } from "./number-api.ts";
import { NumberCard } from "./number-card.tsx";
import { NumberState } from "./number-state.tsx";
import { forgetEndedProof, type RunningProof, useRunningProof } from "./running-proof.ts";
import { useReturn } from "./use-proof-progress.ts";
import { VouchingStep } from "./vouching-step.tsx";

const methodIcons: Record<NumberMethod, string> = {
  whatsapp_message: "i-ph-whatsapp-logo",
  missed_call: "i-ph-phone-outgoing",
  whatsapp_code: "i-ph-whatsapp-logo",
  sms_code: "i-ph-chat-text",
  vouching: "i-ph-users",
};

type VerificationProps = {
  /** Number to verify; it replaces another one if `isNew`. */
  target: NewNumberMethods;
  isNew: boolean;
  vouching: OwnNumber["vouching"];
  /** Started proof, perhaps of another target or set aside. */
  running: RunningProof | undefined;
  setRunning: (running: RunningProof | undefined) => void;
  /** The proof has ended: the number is verified, or stays with somebody who uses it. */
  onOver: (own: OwnNumber) => void;
};

/** Methods to choose from, then the step of the chosen one. */
function Verification({ target, isNew, vouching, running, setRunning, onOver }: VerificationProps) {
  const { t } = useTranslation();
  const { withStepUp, stepUp } = useStepUp();
  const { phone, methods } = target;
  const [hasReturned, setReturned] = useState(false);
  const [pending, setPending] = useState<NumberMethod>();
  const [problem, setProblem] = useState<string>();
  /** Latest progress of the vouching; undefined until the server has told it. */
  const [latest, setLatest] = useState<OwnNumber>();
  /** Chosen method for which confirmations would be lost. */
  const [asked, setAsked] = useState<NumberMethod>();
  const shown = running && !running.isAside && running.target.phone === phone ? running : undefined;
  const start = async (method: NumberMethod, mayLoseVouches = false) => {
    setAsked(undefined);
    setProblem(undefined);
    if (running?.isAside && method === running.method && running.target.phone === phone) {
      setRunning({ ...running, isAside: false });
      return;
    }
    setPending(method);
    try {
      // The server keeps one proof for each person: another one replaces the vouching.
      const isVouching = running?.method === "vouching" || vouching !== null;
      if (isVouching && !mayLoseVouches && (await fetchOwnNumber()).vouching?.confirmed) setAsked(method);
      else
        await withStepUp(async () => {
          const proof = await startProof(isNew ? { method, phone } : { method });
          setLatest(undefined);
          setRunning({ target, isNew, method, proof, startedAt: Date.now() });
        });
    } catch (error) {
      // Sending a message or calling counts for the person only, not for the number.
      const isOtherOffered = sendsCode(method) && methods.some((other) => !sendsCode(other));
      const isUsedUp = toErrorCode(error) === "number_proofs_used_up";
      setProblem(isUsedUp && isOtherOffered ? t("number.usedUp") : toErrorText(error, t));
    }
    setPending(undefined);
  };
  const alert = problem !== undefined && (
    <p role="alert" className="px-4 text-danger">
      {problem}
    </p>
  );
  const question = (
    <ConfirmDialog
      open={asked !== undefined}
      title={t("number.vouching.restart.title")}
      body={t("number.vouching.restart.body")}
      confirmLabel={t("number.vouching.restart.confirm")}
      cancelLabel={t("common.cancel")}
      onConfirm={() => asked && void start(asked, true)}
      onClose={() => setAsked(undefined)}
    />
  );
  if (!shown) {
    return (
      <>
        <p
          ref={isNew || hasReturned ? focusOnMount : undefined}
          tabIndex={-1}
          className="px-4 focus-visible:outline-none"
        >
          {t("number.choose")}
        </p>
        {isNew && (
          <p className="px-4 font-semibold">
            <PhoneNumber phone={phone} />
          </p>
        )}
        {alert}
        <div className="flex flex-col gap-3">
          {methods.map((method) => (
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
        {question}
        {stepUp}
      </>
    );
  }
  const { method, proof, startedAt } = shown;
  return (
    <>
      <h2 ref={focusOnMount} tabIndex={-1} className="px-4 font-semibold focus-visible:outline-none">
        {t(`number.methods.${method}`)}
      </h2>
      {alert}
      <NumberCard>
        {proof.ask.kind === "vouching" ? (
          <VouchingStep
            key={proof.id}
            proof={proof}
            qrCode={proof.ask.qr_code}
            phone={phone}
            known={latest ? latest.vouching : vouching}
            hasAnswer={latest !== undefined}
            isBusy={pending !== undefined}
            onAnswer={setLatest}
            onOver={onOver}
            onRenew={() => void start(method)}
          />
        ) : proof.ask.kind === "code" ? (
          <CodeStep
            key={proof.id}
            proof={proof}
            phone={phone}
            startedAt={startedAt}
            isBusy={pending !== undefined}
            onVerified={onOver}
            onResend={() => void start(method)}
          />
        ) : (
          <ContactStep
            key={proof.id}
            method={method}
            ask={proof.ask}
            phone={phone}
            expiresAt={proof.expires_at}
            onOver={onOver}
          />
        )}
      </NumberCard>
      <Button
        variant="quiet"
        disabled={pending !== undefined}
        onClick={() => {
          // Contacts may have confirmed already, and others still have the code.
          setRunning(method === "vouching" ? { ...shown, isAside: true } : undefined);
          setReturned(true);
          setProblem(undefined);
        }}
      >
        {t("number.otherMethod")}
      </Button>
      {question}
      {stepUp}
    </>
  );
}

type NumberActionsProps = {
  own: OwnNumber;
  onOver: (own: OwnNumber) => void;
  /** Asks the server again: another tab has started or ended a proof. */
  refresh: () => void;
};

/** Actions on the own number: verify it, or replace it by another one. */
function NumberActions({ own, onOver, refresh }: NumberActionsProps) {
  const { t } = useTranslation();
  const [running, setRunning] = useRunningProof(refresh);
  const isLost = own.phone === "";
  const [step, setStep] = useState<"own" | "typing" | "chosen">(isLost ? "typing" : "own");
  const [target, setTarget] = useState<NewNumberMethods>();
  const choose = (chosen: NewNumberMethods) => {
    setTarget(chosen);
    setStep("chosen");
  };
  // The proof of a new number from before a reload, or from another tab.
  if (running?.isNew && (step !== "chosen" || target?.phone !== running.target.phone)) choose(running.target);
  const proofProps = { vouching: own.vouching, running, setRunning, onOver };
  if (step === "chosen" && target) {
    return (
      <>
        <Verification key={target.phone} target={target} isNew {...proofProps} />
        {!running?.isNew && (
          <Button variant="quiet" onClick={() => setStep("typing")}>
            {t("number.correct")}
          </Button>
        )}
      </>
    );
  }
  const isTyping = step === "typing";
  const needsProof = !isLost && (own.verified_at === null || own.contested_until !== null);
  const isWeaklyProved = own.is_vouched && own.methods.length > 0;
  return (
    <>
      {isTyping ? (
        <NewNumberForm typed={target?.phone ?? ""} takesFocus={!isLost || target !== undefined} onChosen={choose} />
      ) : (
        (needsProof || isWeaklyProved) && (
          <>
            {isWeaklyProved && <p className="px-4">{t("number.vouching.stronger")}</p>}
            {own.methods.length === 0 ? (
              <p className="px-4 text-muted">{t("number.noMethods")}</p>
            ) : (
              <Verification target={own} isNew={false} {...proofProps} />
            )}
          </>
        )
      )}
      {!isLost && own.methods.some((method) => method !== "vouching") && (
        <Button
          variant="quiet"
          onClick={() => {
            setTarget(undefined);
            setStep(isTyping ? "own" : "typing");
          }}
        >
          {t(isTyping ? "common.cancel" : "number.change")}
        </Button>
      )}
    </>
  );
}

const parseAllowance = (body: unknown): Allowance => parseResponse(Allowance, body);

/** Says that an unverified number limits how many new people its person reaches, where that is so. */
function ReachNote() {
  const { t } = useTranslation();
  const [query] = useRemoteQuery("/api/allowance", true, parseAllowance);
  return query.state === "found" && query.body.can_verify && <p className="px-4">{t("number.reach")}</p>;
}

const parseOwn = (body: unknown): OwnNumber => {
  const own = parseOwnNumber(body);
  forgetEndedProof(own);
  return own;
};

/** Page of the own number: its state, its verification by the methods that the server offers, and its change. */
export default function VerifyNumberScreen() {
  const { t } = useTranslation();
  const [query, retry] = useRemoteQuery(ownNumberPath, true, parseOwn);
  // Counts the changes of the number, after each of which the actions begin anew.
  const [changed, setChanged] = useState<{ own: OwnNumber; count: number }>();
  const show = useCallback((next: OwnNumber) => {
    forgetEndedProof(next);
    setChanged((before) => ({ own: next, count: (before?.count ?? 0) + 1 }));
  }, []);
  const own = changed?.own ?? (query.state === "found" ? query.body : undefined);
  const refresh = useCallback(() => {
    // Without an answer the page stays as it is.
    fetchOwnNumber().then(
      (next) => {
        // The step of vouching shows its own progress.
        const compared = { ...next, vouching: next.is_refused ? next.vouching : (own?.vouching ?? null) };
        if (own && JSON.stringify(compared) !== JSON.stringify(own)) show(next);
      },
      () => undefined,
    );
  }, [own, show]);
  useReturn(refresh);
  return (
    <SettingsPage title={t("number.title")} description={t("number.description")}>
      <p className="px-4">{t("number.body")}</p>
      {own?.verified_at === null && <ReachNote />}
      {own ? (
        <Fragment key={changed?.count}>
          <NumberState own={own} takesFocus={changed !== undefined} />
          <NumberActions own={own} onOver={show} refresh={refresh} />
        </Fragment>
      ) : (
        <PendingContent query={query} retry={retry} />
      )}
      <Link
        to="/app"
        className="inline-flex min-h-12 items-center justify-center rounded-card px-6 py-2 text-center font-semibold text-accent hover:bg-raised"
      >
        {t(own && own.verified_at !== null ? "number.done" : "number.later")}
      </Link>
    </SettingsPage>
  );
}
