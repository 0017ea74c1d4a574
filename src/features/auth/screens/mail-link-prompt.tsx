import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";

type MailLinkPromptProps = {
  label: string;
  busyLabel: string;
  /** Uses the link up. Rejects with what is then said. */
  redeem: () => Promise<void>;
  /** Where else one may turn once it failed. */
  children?: ReactNode;
};

/**
 * What a mail's link led to. It waits for a press: whoever looks through mails for their people opens links too, and it is
 * good once.
 */
export function MailLinkPrompt({ label, busyLabel, redeem, children }: MailLinkPromptProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ error: unknown }>();
  // A refused link stays refused: no button asks for it again.
  const isDead = problem !== undefined && toErrorCode(problem.error) === "otp_expired";
  const press = async () => {
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
      {/* What takes the focus is heard by that. */}
      <div role={isDead ? undefined : "alert"} className="empty:hidden">
        {problem && (
          <p
            {...(isDead ? { ref: focusOnMount } : {})}
            tabIndex={-1}
            className="rounded-card bg-danger-soft px-4 py-3 text-danger"
          >
            {toErrorText(problem.error, t)}
          </p>
        )}
      </div>
      {isDead ? null : (
        <Button busy={isBusy} busyLabel={busyLabel} onClick={() => void press()}>
          {label}
        </Button>
      )}
      {problem && children}
    </div>
  );
}
