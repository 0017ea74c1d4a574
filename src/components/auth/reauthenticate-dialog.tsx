import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { PasswordField } from "#components/controls/password-field.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { useLoaded } from "#components/layout/use-loaded.ts";
import { dialogCardClasses, Modal } from "#components/overlays/modal.tsx";
import type { Security } from "#contract/auth/security.ts";
import { canUsePasskeys } from "#lib/factors/passkeys.ts";
import { submitPassword } from "#lib/factors/second-factor.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { findSecondSteps, listCodeApps, loadSecurityOverview } from "#lib/session/security-overview.ts";
import { PasskeyButton, SecondFactorPanel } from "./second-factor-panel.tsx";

export type StepUpDialogProps = { onVerified: () => void; onClose: () => void };

const selectPassword = (form: HTMLFormElement | null): void => {
  const field = form?.querySelector("input");
  field?.focus();
  field?.select();
};

function PasswordStepUpForm({ onVerified }: { onVerified: () => void }) {
  const { t } = useTranslation();
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => selectPassword(form.current), []);
  useEffect(() => {
    if (problem !== undefined) selectPassword(form.current);
  }, [problem]);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const password = String(new FormData(event.currentTarget).get("ownPassword"));
    setProblem(undefined);
    if (password === "") return setProblem(t("security.stepUp.passwordMissing"));
    setBusy(true);
    try {
      await submitPassword(password);
      onVerified();
    } catch (error) {
      const isWrong = toErrorCode(error) === "invalid_credentials";
      setProblem(isWrong ? t("security.stepUp.passwordWrong") : toErrorText(error, t));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form ref={form} noValidate onSubmit={submit} className="flex flex-col gap-4">
      <PasswordField
        id="ownPassword"
        label={t("auth.password")}
        readOnly={isBusy}
        error={problem}
        focusOnError
        autoComplete="current-password"
        enterKeyHint="go"
      />
      <Button type="submit" busy={isBusy} busyLabel={t("auth.secondStep.checking")}>
        {t("auth.secondStep.go")}
      </Button>
    </form>
  );
}

function StepUpOptions({ security, onVerified }: { security: Security; onVerified: () => void }) {
  const steps = findSecondSteps(security);
  if (steps) return <SecondFactorPanel steps={steps} apps={listCodeApps(security)} onVerified={onVerified} />;
  return (
    <div className="flex flex-col gap-2">
      <PasswordStepUpForm onVerified={onVerified} />
      {security.passkeys.length > 0 && canUsePasskeys() && (
        <PasskeyButton variant="secondary" onVerified={onVerified} />
      )}
    </div>
  );
}

/** Step-up dialog: asks the signed-in person for the password, or for the second factor if the account has one. */
export default function StepUpDialog({ onVerified, onClose }: StepUpDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const { value: security, failure, retry } = useLoaded("security overview", loadSecurityOverview);
  const steps = security && findSecondSteps(security);
  return (
    <Modal
      labelledBy={`${id}-title`}
      describedBy={`${id}-body`}
      className={`max-h-[calc(100dvh-2rem)] overflow-y-auto ${dialogCardClasses}`}
      onDismiss={onClose}
    >
      <div className="p-6">
        <h2 id={`${id}-title`} className="text-xl font-bold text-balance">
          {t("security.stepUp.title")}
        </h2>
        <p id={`${id}-body`} className="mt-2 mb-4 text-muted">
          {t(steps ? "security.stepUp.bodyStep" : "security.stepUp.body")}
        </p>
        {failure !== undefined && (
          <div role="alert" className="flex flex-col gap-3">
            <p className="rounded-card bg-danger-soft px-4 py-3 text-danger">{toErrorText(failure, t)}</p>
            <Button onClick={retry}>{t("common.retry")}</Button>
          </div>
        )}
        {security && <StepUpOptions security={security} onVerified={onVerified} />}
        {!security && failure === undefined && (
          <div className="grid min-h-40 place-items-center">
            <Spinner label={t("common.loading")} className="text-3xl text-accent" />
          </div>
        )}
        <Button variant="quiet" className="mt-2 w-full" onClick={onClose}>
          {t("common.cancel")}
        </Button>
      </div>
    </Modal>
  );
}
