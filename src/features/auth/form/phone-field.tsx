import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#components/controls/text-field.tsx";

/** One's own number, as people write it. */
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
