import { useTranslation } from "react-i18next";
import { isMaskedPhone } from "#contract/people.ts";

type PhoneNumberProps = { phone: string; className?: string };

/** Phone number. For a masked one, screen readers get a description instead of the dots. */
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
