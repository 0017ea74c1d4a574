import type { ClipboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { formatPhone, isMaskedPhone } from "#contract/phone/phone-text.ts";

type PhoneNumberProps = { phone: string; className?: string };

/**
 * Phone number in groups, selected and copied as a whole, without the spaces. For a masked one, screen readers get a
 * description instead of the dots.
 */
export function PhoneNumber({ phone, className = "" }: PhoneNumberProps) {
  const { t } = useTranslation();
  if (!isMaskedPhone(phone)) {
    const copy = (event: ClipboardEvent) => {
      event.preventDefault();
      event.clipboardData.setData("text/plain", phone);
    };
    return (
      <bdi dir="ltr" className={`select-all ${className}`} onCopy={copy}>
        {formatPhone(phone)}
      </bdi>
    );
  }
  return (
    <>
      <bdi dir="ltr" aria-hidden="true" className={className}>
        {phone}
      </bdi>
      <span className="sr-only">
        {phone.endsWith("•") ? t("people.phoneHidden") : t("people.phoneEnding", { digits: phone.slice(-2) })}
      </span>
    </>
  );
}
