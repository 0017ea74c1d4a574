import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { FormError } from "#components/auth/form-error.tsx";
import { SecondFactorPanel } from "#components/auth/second-factor-panel.tsx";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import type { FactorReset } from "#contract/auth/security.ts";
import { useFormat } from "#i18n/use-format.ts";
import { endPendingSession, isSessionEndedError, requestSecondFactorReset } from "#lib/factors/second-factor.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import type { OpenedSession } from "#lib/session/session.ts";

/** Explains and requests the delayed removal of the second factor for a user who lost all their factors. */
function LostAccess({ onBack, onExpired }: { onBack: () => void; onExpired: () => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const heading = useRef<HTMLHeadingElement>(null);
  const [isRequesting, setRequesting] = useState(false);
  const [reset, setReset] = useState<FactorReset>();
  const [problem, setProblem] = useState<{ error: unknown }>();
  useEffect(() => heading.current?.focus(), []);

  const requestReset = async () => {
    setRequesting(true);
    setProblem(undefined);
    try {
      setReset(await requestSecondFactorReset());
    } catch (error) {
      if (isSessionEndedError(error)) onExpired();
      else setProblem({ error });
    } finally {
      setRequesting(false);
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
        <Button busy={isRequesting} onClick={() => void requestReset()}>
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
  /** Session from the server that still requires the second factor. */
  opened: OpenedSession;
  /** The second factor was verified: the session is complete. */
  onVerified: () => void;
  /** The user cancelled; the pending session is being ended. */
  onCancel: () => void;
  /** The pending session expired or was ended on another device. */
  onExpired: () => void;
};

/** Second-factor step of a sign-in (SPEC.md §7), after a password, a recovery code, a mail or a provider. */
export default function SecondFactorStep({ opened, onVerified, onCancel, onExpired }: SecondFactorStepProps) {
  const { t } = useTranslation();
  const [isLost, setLost] = useState(false);
  if (isLost) return <LostAccess onBack={() => setLost(false)} onExpired={onExpired} />;
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
