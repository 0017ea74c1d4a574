import { useState } from "react";
import { useTranslation } from "react-i18next";
import { QrCode } from "#components/images/qr-code.tsx";
import type { NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { vouchersNeeded } from "#contract/limits.ts";
import { useFormat } from "#i18n/use-format.ts";
import { useVerifiedElsewhere } from "./use-proof-progress.ts";

type VouchingStepProps = {
  proof: NumberProof;
  qrCode: string;
  phone: string;
  /** State when the page opened. */
  initial: OwnNumber["vouching"];
  onOver: (own: OwnNumber) => void;
};

/** QR code that two contacts scan, above the fold of a small phone, and how many of them have confirmed. */
export function VouchingStep({ proof, qrCode, phone, initial, onOver }: VouchingStepProps) {
  const { t } = useTranslation();
  const { date, time } = useFormat();
  const [latest, setLatest] = useState<OwnNumber>();
  useVerifiedElsewhere({ phone, method: "vouching", onOver, onAnswer: setLatest });
  const known = latest ? latest.vouching : initial;
  const isOwn = known?.proof === proof.id;
  // Ended by another one on another device, by signing out there, or too late.
  const isExpired = latest !== undefined && !isOwn;
  return (
    <div className="flex flex-col gap-4 p-4">
      {!isExpired && <QrCode svg={qrCode} label={t("number.vouching.qr")} />}
      <p role="status" className="text-center font-semibold">
        {isExpired
          ? t("number.expired")
          : t("number.vouching.confirmed", { confirmed: isOwn ? known.confirmed : 0, needed: vouchersNeeded })}
      </p>
      {!isExpired && (
        <p className="text-center text-sm text-muted">
          {t("number.vouching.until", { date: date(proof.expires_at), time: time(proof.expires_at) })}
        </p>
      )}
      <p>{t("number.vouching.body")}</p>
      <p className="text-muted">{t("number.vouching.who")}</p>
    </div>
  );
}
