import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#components/controls/text-field.tsx";

/** The user's own phone number, in any usual notation. */
export function PhoneField(props: Omit<ComponentProps<typeof TextField>, "id" | "label">) {
  const { t } = useTranslation();
  return (
    <TextField
      id="phoneNumber"
      label={t("auth.phoneNumber")}
      type="tel"
      inputMode="tel"
      placeholder="243810000000"
      maxLength={40}
      enterKeyHint="next"
      {...props}
    />
  );
}
