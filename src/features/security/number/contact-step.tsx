import { useTranslation } from "react-i18next";
import { ButtonLink } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import type { NumberMethod, NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { useSecondsUntil, useVerifiedElsewhere } from "./use-proof-progress.ts";

type Ask = Extract<NumberProof["ask"], { kind: "message" | "call" }>;
type ContactStepProps = {
  method: NumberMethod;
  ask: Ask;
  phone: string;
  expiresAt: number;
  onOver: (own: OwnNumber) => void;
};

/** Message to send or number to call from the own phone. The page continues by itself once it arrived. */
export function ContactStep({ method, ask, phone, expiresAt, onOver }: ContactStepProps) {
  const { t } = useTranslation();
  useVerifiedElsewhere({ phone, method, onOver });
  const isExpired = useSecondsUntil(expiresAt) === 0;
  const isCall = ask.kind === "call";
  return (
    <div className="flex flex-col gap-4 p-4">
      <p>{t(isCall ? "number.callBody" : "number.messageBody")}</p>
      <p className="rounded-card bg-raised px-4 py-3 text-center text-lg font-semibold" dir="ltr">
        {isCall ? <PhoneNumber phone={ask.to} /> : <span className="select-all">{ask.text}</span>}
      </p>
      {isCall ? (
        <ButtonLink href={`tel:${ask.to}`}>{t("number.call")}</ButtonLink>
      ) : (
        <ButtonLink href={ask.url} target="_blank" rel="noreferrer">
          {t("number.openWhatsApp")}
        </ButtonLink>
      )}
      <p role="status" className="flex items-center justify-center gap-2 text-center text-muted">
        {isExpired ? (
          t("number.expired")
        ) : (
          <>
            <Spinner className="shrink-0 text-xl" />
            {t(isCall ? "number.waitingForCall" : "number.waitingForMessage")}
          </>
        )}
      </p>
    </div>
  );
}
