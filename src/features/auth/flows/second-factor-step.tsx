import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { FormError } from "#components/auth/form-error.tsx";
import { SecondFactorPanel } from "#components/auth/second-factor-panel.tsx";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import type { FactorReset } from "#contract/auth/security.ts";
import { useFormat } from "#i18n/format.ts";
import { endPendingSession, isSessionEndedError, requestSecondFactorReset } from "#lib/factors/second-factor.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import type { OpenedSession } from "#lib/session/session.ts";

/** Whoever lost all they could show: what happens then, and the wish for it. */
function LostAccess({ onBack, onOver }: { onBack: () => void; onOver: () => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const heading = useRef<HTMLHeadingElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [reset, setReset] = useState<FactorReset>();
  const [problem, setProblem] = useState<{ error: unknown }>();
  useEffect(() => heading.current?.focus(), []);

  const ask = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      setReset(await requestSecondFactorReset());
    } catch (error) {
      if (isSessionEndedError(error)) onOver();
      else setProblem({ error });
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-labelledby="lost" className="flex flex-col gap-4">
      <h2 id="lost" ref={heading} tabIndex={-1} className="text-xl font-bold focus-visible:outline-none">
        {t("auth.secondStep.lost")}
      </h2>
      <p>{t("auth.secondStep.lostBody")}</p>
      <p>{t("auth.secondStep.lostStop")}</p>
      <div role="status" className="empty:hidden">
        {reset && (
          <p ref={focusOnMount} tabIndex={-1} className="rounded-card bg-accent-soft px-4 py-3">
            {t("auth.secondStep.lostDue", { date: format.date(reset.due_at), time: format.time(reset.due_at) })}
          </p>
        )}
      </div>
      <FormError>{problem && toErrorText(problem.error, t)}</FormError>
      {!reset && (
        <Button busy={isBusy} onClick={() => void ask()}>
          {t("auth.secondStep.lostAsk")}
        </Button>
      )}
      <Button variant="quiet" onClick={onBack}>
        {t("common.back")}
      </Button>
    </section>
  );
}

export type SecondFactorStepProps = {
  /** What the server answered: a session that still owes its step. */
  opened: OpenedSession;
  /** The step was shown: the session is whole. */
  onVerified: () => void;
  /** The session that owed it has been ended. */
  onCancel: () => void;
  /** It has ended by itself, or was ended on another device. */
  onExpired: () => void;
};

/** SPEC.md §7, second factor: what is asked after the password, or after whatever else began the session. */
export default function SecondFactorStep({ opened, onVerified, onCancel, onExpired }: SecondFactorStepProps) {
  const { t } = useTranslation();
  const [isLost, setLost] = useState(false);
  if (isLost) return <LostAccess onBack={() => setLost(false)} onOver={onExpired} />;
  return (
    <div className="flex flex-col gap-2">
      <SecondFactorPanel
        steps={opened.awaits ?? []}
        apps={opened.apps}
        onVerified={onVerified}
        onSessionEnded={onExpired}
      >
        <Button variant="quiet" onClick={() => setLost(true)}>
          {t("auth.secondStep.lost")}
        </Button>
      </SecondFactorPanel>
      <Button
        variant="quiet"
        onClick={() => {
          void endPendingSession();
          onCancel();
        }}
      >
        {t("common.cancel")}
      </Button>
    </div>
  );
}
