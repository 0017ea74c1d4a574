import { type ReactNode, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { takeFocus } from "#components/focus/take-focus.ts";
import type { SecondStep } from "#contract/auth/auth.ts";
import { totpDigits } from "#contract/limits.ts";
import { passkeyFailureText } from "#lib/factors/passkey-error.ts";
import { canUsePasskeys, stepByPasskey } from "#lib/factors/passkeys.ts";
import { isOver, showCode, showRecoveryCode } from "#lib/factors/second-factor.ts";
import type { CodeApp } from "#lib/session/session.ts";
import { ProblemNote } from "./form-error.tsx";

type WayProps = {
  onShown: () => void;
  /** The session has ended. Where nobody asks for it that is said like any refusal. */
  onOver?: (() => void) | undefined;
};

/** Shows one way; what is wrong with it is thrown, unless the session itself is over. */
const attempt = async ({ onShown, onOver }: WayProps, show: () => Promise<unknown>): Promise<void> => {
  try {
    if (!(await show())) return; // closed by its person
  } catch (error) {
    if (!onOver || !isOver(error)) throw error;
    return onOver();
  }
  onShown();
};

type AppChoiceProps = { apps: readonly CodeApp[]; value: string; onChoose: (id: string) => void };

/** Which of several code apps the code is from. */
function AppChoice({ apps, value, onChoose }: AppChoiceProps) {
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
        onChange={({ target }) => onChoose(target.value)}
        className="min-h-12 w-full rounded-card border border-field bg-surface px-3 py-2 text-text"
      >
        {apps.map((app) => (
          <option key={app.id} value={app.id}>
            {app.friendly_name}
          </option>
        ))}
      </select>
    </div>
  );
}

function CodeWay({ apps, ...ends }: WayProps & { apps: readonly CodeApp[] }) {
  const { t } = useTranslation();
  const [app, setApp] = useState(apps[0]?.id ?? "");
  return (
    <CodeForm
      id="code"
      label={t("auth.secondStep.code")}
      hint={t("auth.secondStep.codeHint")}
      missing={t("auth.secondStep.codeMissing")}
      digits={totpDigits}
      send={(code) => attempt(ends, () => showCode(app, code))}
    >
      {apps.length > 1 && <AppChoice apps={apps} value={app} onChoose={setApp} />}
    </CodeForm>
  );
}

function RecoveryWay(ends: WayProps) {
  const { t } = useTranslation();
  return (
    <CodeForm
      id="recoveryCode"
      label={t("auth.secondStep.recovery")}
      hint={t("auth.secondStep.recoveryHint")}
      missing={t("auth.secondStep.recoveryMissing")}
      wrong={t("auth.secondStep.recoveryWrong")}
      send={(code) => attempt(ends, () => showRecoveryCode(code))}
    />
  );
}

/** Shows a passkey by one press; who closes the browser's dialog is where they were. */
export function PasskeyButton({ look, ...ends }: WayProps & { look: "primary" | "secondary" }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ error: unknown }>();
  const show = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await attempt(ends, stepByPasskey);
    } catch (error) {
      setProblem({ error });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        {...(look === "primary" ? { ref: takeFocus } : {})}
        look={look}
        busy={isBusy}
        busyLabel={t("auth.secondStep.usePasskey")}
        onClick={() => void show()}
      >
        <span className="flex items-center justify-center gap-2">
          <span className="i-ph-fingerprint text-xl" aria-hidden="true" />
          {t("auth.secondStep.usePasskey")}
        </span>
      </Button>
      <ProblemNote>{problem && passkeyFailureText(problem.error, t)}</ProblemNote>
    </>
  );
}

type Way = "totp" | "recovery_code" | "none";

const firstWay = (steps: readonly SecondStep[], hasApps: boolean, hasKeys: boolean): Way => {
  if (hasApps) return "totp";
  return !hasKeys && steps.includes("recovery_code") ? "recovery_code" : "none";
};

type StepPanelProps = WayProps & {
  /** What may be shown, as the server says it. */
  steps: readonly SecondStep[];
  apps: readonly CodeApp[];
  /** Where else one may turn, below the other ways. */
  children?: ReactNode;
};

/** The ways to show that one is oneself besides the password: one at a time, the others below. */
export function StepPanel({ steps, apps, children, ...ends }: StepPanelProps) {
  const { t } = useTranslation();
  const hasApps = steps.includes("totp") && apps.length > 0;
  const hasKeys = steps.includes("passkey") && canUsePasskeys();
  const hasCodes = steps.includes("recovery_code");
  const [way, setWay] = useState<Way>(firstWay(steps, hasApps, hasKeys));
  return (
    <div className="flex flex-col gap-4">
      {way === "totp" && <CodeWay apps={apps} {...ends} />}
      {way === "recovery_code" && <RecoveryWay {...ends} />}
      {!hasApps && !hasKeys && !hasCodes && (
        <p className="rounded-card bg-raised px-4 py-3">{t("auth.secondStep.stuck")}</p>
      )}
      <div className="flex flex-col gap-2">
        {hasKeys && <PasskeyButton look={way === "none" ? "primary" : "secondary"} {...ends} />}
        {hasApps && way !== "totp" && (
          <Button look="quiet" onClick={() => setWay("totp")}>
            {t("auth.secondStep.useApp")}
          </Button>
        )}
        {hasCodes && way !== "recovery_code" && (
          <Button look="quiet" onClick={() => setWay("recovery_code")}>
            {t("auth.secondStep.useRecovery")}
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}
