import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";

type MailLinkPromptProps = {
  label: string;
  busyLabel: string;
  /** Redeems the single-use link. Rejects with the error to show. */
  redeem: () => Promise<void>;
  /** Alternatives shown after a failure. */
  children?: ReactNode;
};

/**
 * Page opened by a mail link. It waits for a click, because mail scanners open links too and the link works only once.
 */
export function MailLinkPrompt({ label, busyLabel, redeem, children }: MailLinkPromptProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ error: unknown }>();
  // An expired link stays expired: no retry button.
  const isExpired = problem !== undefined && toErrorCode(problem.error) === "otp_expired";
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await redeem();
    } catch (error) {
      setProblem({ error });
      setBusy(false);
    }
  };
  return (
    <div className="mt-6 flex flex-col gap-4">
      {/* Text that gets the focus is announced by that; otherwise it is an alert. */}
      <div role={isExpired ? undefined : "alert"} className="empty:hidden">
        {problem && (
          <p
            {...(isExpired ? { ref: focusOnMount } : {})}
            tabIndex={-1}
            className="rounded-card bg-danger-soft px-4 py-3 text-danger"
          >
            {toErrorText(problem.error, t)}
          </p>
        )}
      </div>
      {isExpired ? null : (
        <Button busy={isBusy} busyLabel={busyLabel} onClick={() => void submit()}>
          {label}
        </Button>
      )}
      {problem && children}
    </div>
  );
}
