import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { numberCodeDigits, numberCodePauseSeconds } from "#contract/limits.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { checkNumberCode } from "./number-api.ts";
import { useReceivedCode, useSecondsUntil } from "./use-proof-progress.ts";

type CodeStepProps = {
  proof: NumberProof;
  phone: string;
  isBusy: boolean;
  onVerified: (own: OwnNumber) => void;
  onResend: () => void;
};

/** Field for the code that was sent, and a button for another one after a pause. */
export function CodeStep({ proof, phone, isBusy, onVerified, onResend }: CodeStepProps) {
  const { t } = useTranslation();
  const [sentAt] = useState(() => Date.now());
  const seconds = useSecondsUntil(sentAt + numberCodePauseSeconds * 1_000);
  const submit = useCallback(
    async (code: string) => onVerified(await checkNumberCode(proof, code)),
    [proof, onVerified],
  );
  const submitReceived = useCallback(
    (code: string) =>
      void submit(code).catch((error: unknown) =>
        showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) }),
      ),
    [submit, t],
  );
  useReceivedCode(submitReceived);
  return (
    <div className="flex flex-col gap-4 p-4">
      <CodeForm
        id="numberCode"
        label={t("number.code")}
        hint={t("number.codeHint")}
        missingMessage={t("number.codeMissing", { digits: numberCodeDigits })}
        digits={numberCodeDigits}
        submitCode={submit}
        submitLabel={t("number.check")}
      >
        <p role="status">{t("number.codeSent", { phone })}</p>
      </CodeForm>
      <Button variant="secondary" busy={isBusy} disabled={seconds > 0} onClick={onResend}>
        {seconds > 0 ? t("number.resendIn", { seconds }) : t("number.resend")}
      </Button>
    </div>
  );
}
