import type { ComponentProps } from "react";
import { TextField } from "../../components/text-field";
import { useT } from "../../i18n/setup";

/** One's own number, as people write it. */
export function PhoneField(props: Omit<ComponentProps<typeof TextField>, "id" | "label">) {
  const t = useT();
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
