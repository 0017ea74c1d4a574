import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useStepUp } from "#components/auth/reauthenticate.tsx";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { type NewNumberMethods, type NumberMethod, type OwnNumber, sendsCode } from "#contract/auth/number.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { CodeStep } from "./code-step.tsx";
import { ContactStep } from "./contact-step.tsx";
import { fetchOwnNumber, startProof } from "./number-api.ts";
import { NumberCard } from "./number-card.tsx";
import type { RunningProof } from "./running-proof.ts";
import { VouchingStep } from "./vouching-step.tsx";

const methodIcons: Record<NumberMethod, string> = {
  whatsapp_message: "i-ph-whatsapp-logo",
  missed_call: "i-ph-phone-outgoing",
  whatsapp_code: "i-ph-whatsapp-logo",
  sms_code: "i-ph-chat-text",
  vouching: "i-ph-users",
};

type NumberVerificationProps = {
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

/** Verification of a number: methods to choose from, then the step of the chosen one. */
export function NumberVerification({ target, isNew, vouching, running, setRunning, onOver }: NumberVerificationProps) {
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
              <IconLabel icon={methodIcons[method]} label={t(`number.methods.${method}`)} />
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
