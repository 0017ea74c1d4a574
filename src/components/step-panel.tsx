import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { SecondStep } from "../../contract/auth";
import { type TextKey, useT } from "../i18n/setup";
import { failureText } from "../lib/failure-text";
import { canUsePasskeys, passkeyFailureText, stepByPasskey } from "../lib/passkeys";
import { showCode, showRecoveryCode } from "../lib/second-steps";
import type { CodeApp, Opened } from "../lib/session";
import { Button } from "./button";
import { TextField } from "./text-field";

const codeDigits = 6;

const toDigits = (typed: string): string => typed.replace(/\D/g, "").slice(0, codeDigits);

type WayProps = { onShown: (opened: Opened) => void };

/** One field that is sent to the server; what it refuses is said beside it, and marked to be typed over. */
const useCodeForm = (send: (code: string) => Promise<Opened>, onShown: WayProps["onShown"], missing: TextKey) => {
  const t = useT();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (problem !== undefined) field.current?.select();
  }, [problem]);

  const submit = async (code: string) => {
    if (isBusy) return;
    if (code.trim() === "") return setProblem(t(missing));
    setBusy(true);
    setProblem(undefined);
    try {
      onShown(await send(code));
    } catch (error) {
      setProblem(failureText(error, t));
    } finally {
      setBusy(false);
    }
  };
  return {
    field,
    typed,
    problem,
    isBusy,
    submit,
    type: (value: string) => {
      setTyped(value);
      setProblem(undefined);
    },
    onSubmit: (event: FormEvent) => {
      event.preventDefault();
      void submit(typed);
    },
  };
};

/** Which of several code apps the code is from. */
function AppChoice({
  apps,
  value,
  onChoose,
}: {
  apps: readonly CodeApp[];
  value: string;
  onChoose: (id: string) => void;
}) {
  const t = useT();
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

function CodeWay({ apps, onShown }: WayProps & { apps: readonly CodeApp[] }) {
  const t = useT();
  const [app, setApp] = useState(apps[0]?.id ?? "");
  const form = useCodeForm((code) => showCode(app, code), onShown, "auth.secondStep.codeMissing");
  return (
    <form noValidate onSubmit={form.onSubmit} className="flex flex-col gap-4">
      {apps.length > 1 && <AppChoice apps={apps} value={app} onChoose={setApp} />}
      <TextField
        id="code"
        ref={form.field}
        label={t("auth.secondStep.code")}
        hint={t("auth.secondStep.codeHint")}
        error={form.problem}
        alerts
        inputMode="numeric"
        autoComplete="one-time-code"
        enterKeyHint="go"
        dir="ltr"
        value={form.typed}
        onChange={({ target }) => {
          const digits = toDigits(target.value);
          const isWhole = digits.length === codeDigits && digits !== form.typed;
          form.type(digits);
          if (isWhole) void form.submit(digits);
        }}
      />
      <Button type="submit" busy={form.isBusy} busyLabel={t("auth.secondStep.checking")}>
        {t("auth.secondStep.go")}
      </Button>
    </form>
  );
}

function RecoveryWay({ onShown }: WayProps) {
  const t = useT();
  const form = useCodeForm(showRecoveryCode, onShown, "auth.secondStep.recoveryMissing");
  return (
    <form noValidate onSubmit={form.onSubmit} className="flex flex-col gap-4">
      <TextField
        id="recoveryCode"
        ref={form.field}
        label={t("auth.secondStep.recovery")}
        hint={t("auth.secondStep.recoveryHint")}
        error={form.problem}
        alerts
        autoComplete="off"
        autoCapitalize="characters"
        autoCorrect="off"
        spellCheck={false}
        maxLength={64}
        enterKeyHint="go"
        dir="ltr"
        value={form.typed}
        onChange={({ target }) => form.type(target.value)}
      />
      <Button type="submit" busy={form.isBusy} busyLabel={t("auth.secondStep.checking")}>
        {t("auth.secondStep.go")}
      </Button>
    </form>
  );
}

/** Shows a passkey by one press; who closes the browser's dialog is where they were. */
export function PasskeyButton({ onShown, look }: WayProps & { look: "primary" | "secondary" }) {
  const t = useT();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const show = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const opened = await stepByPasskey();
      if (opened) onShown(opened);
    } catch (error) {
      setProblem(passkeyFailureText(error, t));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-2">
      <Button look={look} busy={isBusy} onClick={() => void show()}>
        <span className="flex items-center justify-center gap-2">
          <span className="i-ph-fingerprint text-xl" aria-hidden="true" />
          {t("auth.secondStep.usePasskey")}
        </span>
      </Button>
      <div role="alert">
        {problem !== undefined && <p className="rounded-card bg-danger-soft px-4 py-3 text-danger">{problem}</p>}
      </div>
    </div>
  );
}

type Way = "totp" | "recovery_code" | "none";

const firstWay = (steps: readonly SecondStep[], hasApps: boolean, hasKeys: boolean): Way => {
  if (hasApps) return "totp";
  return !hasKeys && steps.includes("recovery_code") ? "recovery_code" : "none";
};

type StepPanelProps = {
  /** What may be shown, as the server says it. */
  steps: readonly SecondStep[];
  apps: readonly CodeApp[];
  onShown: (opened: Opened) => void;
  /** Where else one may turn, below the other ways. */
  children?: ReactNode;
};

/** The ways to show that one is oneself besides the password: one at a time, the others below. */
export function StepPanel({ steps, apps, onShown, children }: StepPanelProps) {
  const t = useT();
  const hasApps = steps.includes("totp") && apps.length > 0;
  const hasKeys = steps.includes("passkey") && canUsePasskeys();
  const [way, setWay] = useState<Way>(firstWay(steps, hasApps, hasKeys));
  const isStuck = !hasApps && !hasKeys && !steps.includes("recovery_code");
  return (
    <div className="flex flex-col gap-4">
      {way === "totp" && <CodeWay apps={apps} onShown={onShown} />}
      {way === "recovery_code" && <RecoveryWay onShown={onShown} />}
      {isStuck && <p className="rounded-card bg-raised px-4 py-3">{t("auth.secondStep.stuck")}</p>}
      <div className="flex flex-col gap-2">
        {hasKeys && <PasskeyButton look={way === "none" ? "primary" : "secondary"} onShown={onShown} />}
        {hasApps && way !== "totp" && (
          <Button look="quiet" onClick={() => setWay("totp")}>
            {t("auth.secondStep.useApp")}
          </Button>
        )}
        {steps.includes("recovery_code") && way !== "recovery_code" && (
          <Button look="quiet" onClick={() => setWay("recovery_code")}>
            {t("auth.secondStep.useRecovery")}
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}
