import { useCallback, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { numberCodeDigits, numberCodePauseSeconds } from "#contract/limits/phone-numbers.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { checkNumberCode } from "./number-api.ts";
import { forgetRunningProof } from "./running-proof.ts";
import { useReceivedCode, useSecondsUntil } from "./use-proof-progress.ts";

type CodeStepProps = {
  proof: NumberProof;
  phone: string;
  startedAt: number;
  isBusy: boolean;
  onVerified: (own: OwnNumber) => void;
  onResend: () => void;
};

/** Field for the code that was sent, and a button for another one after a pause. */
export function CodeStep({ proof, phone, startedAt, isBusy, onVerified, onResend }: CodeStepProps) {
  const { t } = useTranslation();
  const seconds = useSecondsUntil(startedAt + numberCodePauseSeconds * 1_000);
  // Requests of this proof by code. The sixth digit submits the code and so does the button, but an attempt counts.
  const checks = useRef(new Map<string, Promise<OwnNumber>>());
  const submit = useCallback(
    async (code: string) => {
      const check = checks.current.get(code) ?? checkNumberCode(proof, code);
      checks.current.set(code, check);
      try {
        onVerified(await check);
      } catch (error) {
        const reason = toErrorCode(error);
        if (reason === "number_proof_expired") forgetRunningProof();
        if (reason !== "number_code_wrong") checks.current.delete(code); // it may be accepted another time
        throw error;
      }
    },
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
        <p role="status">{t("number.codeSent", { phone: formatPhone(phone) })}</p>
      </CodeForm>
      <Button variant="secondary" busy={isBusy} disabled={seconds > 0} onClick={onResend}>
        {seconds > 0 ? t("number.resendIn", { seconds }) : t("number.resend")}
      </Button>
    </div>
  );
}
