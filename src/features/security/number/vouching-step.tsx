import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { QrCode } from "#components/images/qr-code.tsx";
import type { NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { vouchersNeeded } from "#contract/limits/phone-numbers.ts";
import { useFormat } from "#i18n/use-format.ts";
import { useVerifiedElsewhere } from "./use-proof-progress.ts";

type VouchingStepProps = {
  proof: NumberProof;
  qrCode: string;
  phone: string;
  /** Open vouching as far as this page knows. */
  known: OwnNumber["vouching"];
  /** The server has told it since this proof started. */
  hasAnswer: boolean;
  isBusy: boolean;
  onAnswer: (own: OwnNumber) => void;
  onOver: (own: OwnNumber) => void;
  /** Shows a new code in place of one that has ended. */
  onRenew: () => void;
};

/** QR code that two contacts scan, above the fold of a small phone, and how many of them have confirmed. */
export function VouchingStep({ proof, qrCode, phone, known, hasAnswer, isBusy, ...props }: VouchingStepProps) {
  const { t } = useTranslation();
  const { date, time } = useFormat();
  const { onAnswer, onOver, onRenew } = props;
  useVerifiedElsewhere({ phone, method: "vouching", onOver, onAnswer });
  const isOwn = known?.proof === proof.id;
  // Ended by another one on another device, by signing out there, or too late.
  if (hasAnswer && !isOwn)
    return (
      <div className="flex flex-col gap-4 p-4">
        <p role="status" className="text-center font-semibold">
          {t("number.vouching.expired")}
        </p>
        <Button busy={isBusy} onClick={onRenew}>
          {t("number.vouching.renew")}
        </Button>
      </div>
    );
  return (
    <div className="flex flex-col gap-4 p-4">
      <QrCode svg={qrCode} label={t("number.vouching.qr")} />
      <p role="status" className="text-center font-semibold">
        {t("number.vouching.confirmed", { confirmed: isOwn ? known.confirmed : 0, needed: vouchersNeeded })}
      </p>
      <p className="text-center text-sm text-muted">
        {t("number.vouching.until", { date: date(proof.expires_at), time: time(proof.expires_at) })}
      </p>
      <p>{t("number.vouching.body")}</p>
      <p className="text-muted">{t("number.vouching.who")}</p>
    </div>
  );
}
