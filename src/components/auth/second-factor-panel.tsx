import { type ReactNode, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import type { SecondStep } from "#contract/auth/auth.ts";
import { totpDigits } from "#contract/limits/authentication.ts";
import { toPasskeyErrorText } from "#lib/factors/passkey-error.ts";
import { canUsePasskeys, verifyWithPasskey } from "#lib/factors/passkeys.ts";
import { isSessionEndedError, submitRecoveryCode, submitTotp } from "#lib/factors/second-factor.ts";
import type { CodeApp } from "#lib/session/session.ts";
import { FormError } from "./form-error.tsx";

type FactorProps = {
  onVerified: () => void;
  /** Called when the session has ended. Without this callback the error is shown in the form. */
  onSessionEnded?: (() => void) | undefined;
};

/** Verifies one factor. Errors are thrown, except an ended session if `onSessionEnded` is given. */
const verifyFactor = async (
  { onVerified, onSessionEnded }: FactorProps,
  submit: () => Promise<unknown>,
): Promise<void> => {
  try {
    if (!(await submit())) return; // The person closed the browser's dialog.
  } catch (error) {
    if (!onSessionEnded || !isSessionEndedError(error)) throw error;
    return onSessionEnded();
  }
  onVerified();
};

type CodeAppSelectProps = { apps: readonly CodeApp[]; value: string; onSelect: (id: string) => void };

/** Selects the code app that generated the code. */
function CodeAppSelect({ apps, value, onSelect }: CodeAppSelectProps) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-semibold">
        {t("auth.secondStep.whichApp")}
      </label>
      <select
        id={id}
        value={value}
        onChange={({ target }) => onSelect(target.value)}
        className="min-h-12 w-full rounded-card border border-field bg-surface px-3 py-2 text-text"
      >
        {apps.map((appId) => (
          <option key={appId.id} value={appId.id}>
            {appId.friendly_name}
          </option>
        ))}
      </select>
    </div>
  );
}

function TotpForm({ apps, ...factorProps }: FactorProps & { apps: readonly CodeApp[] }) {
  const { t } = useTranslation();
  const [appId, setAppId] = useState(apps[0]?.id ?? "");
  return (
    <CodeForm
      id="code"
      label={t("auth.secondStep.code")}
      hint={t("auth.secondStep.codeHint")}
      missingMessage={t("auth.secondStep.codeMissing")}
      digits={totpDigits}
      submitCode={(code) => verifyFactor(factorProps, () => submitTotp(appId, code))}
    >
      {apps.length > 1 && <CodeAppSelect apps={apps} value={appId} onSelect={setAppId} />}
    </CodeForm>
  );
}

function RecoveryCodeForm(factorProps: FactorProps) {
  const { t } = useTranslation();
  return (
    <CodeForm
      id="recoveryCode"
      label={t("auth.secondStep.recovery")}
      hint={t("auth.secondStep.recoveryHint")}
      missingMessage={t("auth.secondStep.recoveryMissing")}
      wrongMessage={t("auth.secondStep.recoveryWrong")}
      submitCode={(code) => verifyFactor(factorProps, () => submitRecoveryCode(code))}
    />
  );
}

/** Verifies a passkey with one press. Closing the browser's dialog changes nothing. */
export function PasskeyButton({ variant, ...factorProps }: FactorProps & { variant: "primary" | "secondary" }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ error: unknown }>();
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await verifyFactor(factorProps, verifyWithPasskey);
    } catch (error) {
      setProblem({ error });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        {...(variant === "primary" ? { ref: focusOnMount } : {})}
        variant={variant}
        busy={isBusy}
        busyLabel={t("auth.secondStep.usePasskey")}
        onClick={() => void submit()}
      >
        <span className="flex items-center justify-center gap-2">
          <span className="i-ph-fingerprint text-xl" aria-hidden="true" />
          {t("auth.secondStep.usePasskey")}
        </span>
      </Button>
      <FormError>{problem && toPasskeyErrorText(problem.error, t)}</FormError>
    </>
  );
}

type VisibleForm = "totp" | "recovery_code" | "none";

const chooseInitialForm = (steps: readonly SecondStep[], hasApps: boolean, hasPasskeys: boolean): VisibleForm => {
  if (hasApps) return "totp";
  return !hasPasskeys && steps.includes("recovery_code") ? "recovery_code" : "none";
};

type SecondFactorPanelProps = FactorProps & {
  /** Factors that the server accepts. */
  steps: readonly SecondStep[];
  apps: readonly CodeApp[];
  /** Further options, below the other factors. */
  children?: ReactNode;
};

/** Second-factor panel: one factor is open, buttons below switch to the others. */
export function SecondFactorPanel({ steps, apps, children, ...factorProps }: SecondFactorPanelProps) {
  const { t } = useTranslation();
  const hasApps = steps.includes("totp") && apps.length > 0;
  const hasPasskeys = steps.includes("passkey") && canUsePasskeys();
  const hasRecoveryCodes = steps.includes("recovery_code");
  const [visibleForm, setVisibleForm] = useState<VisibleForm>(chooseInitialForm(steps, hasApps, hasPasskeys));
  return (
    <div className="flex flex-col gap-4">
      {visibleForm === "totp" && <TotpForm apps={apps} {...factorProps} />}
      {visibleForm === "recovery_code" && <RecoveryCodeForm {...factorProps} />}
      {!hasApps && !hasPasskeys && !hasRecoveryCodes && (
        <p className="rounded-card bg-raised px-4 py-3">{t("auth.secondStep.stuck")}</p>
      )}
      <div className="flex flex-col gap-2">
        {hasPasskeys && <PasskeyButton variant={visibleForm === "none" ? "primary" : "secondary"} {...factorProps} />}
        {hasApps && visibleForm !== "totp" && (
          <Button variant="quiet" onClick={() => setVisibleForm("totp")}>
            {t("auth.secondStep.useApp")}
          </Button>
        )}
        {hasRecoveryCodes && visibleForm !== "recovery_code" && (
          <Button variant="quiet" onClick={() => setVisibleForm("recovery_code")}>
            {t("auth.secondStep.useRecovery")}
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}
