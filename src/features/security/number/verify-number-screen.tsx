import { Fragment, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { PendingContent } from "#components/layout/pending-content.tsx";
import { SettingsPage } from "#components/layout/settings-page.tsx";
import type { NewNumberMethods, OwnNumber } from "#contract/auth/number.ts";
import { Allowance } from "#contract/settings/trust-tiers.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { ownNumberPath, parseOwnNumber } from "#sync/actions/own-number.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { NewNumberForm } from "./new-number-form.tsx";
import { fetchOwnNumber } from "./number-api.ts";
import { NumberState } from "./number-state.tsx";
import { NumberVerification } from "./number-verification.tsx";
import { forgetEndedProof, useRunningProof } from "./running-proof.ts";
import { useReturn } from "./use-proof-progress.ts";

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
        <NumberVerification key={target.phone} target={target} isNew {...proofProps} />
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
              <NumberVerification target={own} isNew={false} {...proofProps} />
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
        const compared = { ...next, vouching: next.refused_method ? next.vouching : (own?.vouching ?? null) };
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
