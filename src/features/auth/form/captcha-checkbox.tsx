import type { RefObject } from "react";
import { useTranslation } from "react-i18next";
import { Spinner } from "#components/controls/spinner.tsx";
import { FieldError } from "#components/controls/text-field.tsx";
import type { ProofOfWorkStatus } from "./use-proof-of-work.ts";

type CaptchaCheckboxProps = {
  input: RefObject<HTMLInputElement | null>;
  status: ProofOfWorkStatus;
  error: string | undefined;
  onChange: (isChecked: boolean) => void;
};

/** "I am not a robot" checkbox with the progress of the proof of work behind it. */
export function CaptchaCheckbox({ input, status, error, onChange }: CaptchaCheckboxProps) {
  const { t } = useTranslation();
  return (
    <div>
      <div
        className={`flex min-h-14 items-center rounded-card border bg-surface ${error ? "border-danger" : "border-line"}`}
      >
        <label htmlFor="robot" className="flex min-h-14 flex-1 cursor-pointer items-center gap-3 pl-4">
          <input
            ref={input}
            id="robot"
            name="robot"
            type="checkbox"
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? "robot-error robot-status" : "robot-status"}
            onChange={(event) => onChange(event.target.checked)}
            className="size-6 shrink-0 accent-$accent-fill"
          />
          <span>{t("auth.robot")}</span>
        </label>
        <span id="robot-status" role="status" className="flex items-center gap-2 px-4 text-sm text-muted">
          {status === "working" && (
            <>
              <Spinner className="text-lg text-accent" />
              {t("auth.robotWorking")}
            </>
          )}
          {status === "done" && (
            <>
              <span className="i-ph-check-circle-fill text-xl text-accent" aria-hidden="true" />
              {t("auth.robotDone")}
            </>
          )}
        </span>
      </div>
      {status === "waiting" && <p className="mt-1 text-sm text-muted">{t("auth.robotWaiting")}</p>}
      <FieldError id="robot" error={error} />
    </div>
  );
}
