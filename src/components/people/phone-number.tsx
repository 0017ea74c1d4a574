import { useTranslation } from "react-i18next";
import { isMaskedPhone } from "#contract/phone.ts";

type PhoneNumberProps = { phone: string; className?: string };

/** A number as it may be shown; of a masked one a screen reader is told what it is instead of its dots. */
export function PhoneNumber({ phone, className }: PhoneNumberProps) {
  const { t } = useTranslation();
  if (!isMaskedPhone(phone)) {
    return (
      <bdi dir="ltr" className={className}>
        {phone}
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
