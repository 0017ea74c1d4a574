import { type ComponentProps, useState } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#components/controls/text-field.tsx";
import { cleanPhone } from "#contract/phone/phone-text.ts";

type NumberFieldProps = Omit<ComponentProps<typeof TextField>, "id" | "label"> & { label?: string };

/** The user's own phone number, in any usual notation. */
export function PhoneField(props: NumberFieldProps) {
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

/** The user's own phone number, or after a press of its button the handle, for which the phone shows letters. */
export function PhoneOrHandleField(props: NumberFieldProps) {
  const { t } = useTranslation();
  const [isHandle, setHandle] = useState(false);
  const label = t("auth.useHandle");
  const ofHandle = {
    label: t("auth.handle"),
    type: "text",
    inputMode: "text",
    placeholder: "@",
    autoCapitalize: "none",
    autoCorrect: "off",
    spellCheck: false,
  } as const;
  return (
    <PhoneField
      {...props}
      {...(isHandle ? ofHandle : {})}
      trailing={
        <button
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={isHandle}
          onClick={({ currentTarget }) => {
            setHandle(!isHandle);
            // The keyboard of the other kind opens.
            currentTarget.form?.querySelector<HTMLInputElement>("#phoneNumber")?.focus();
          }}
          className="inline-grid size-12 shrink-0 place-items-center rounded-card text-[20px] text-muted hover:text-text"
        >
          <span aria-hidden="true">{isHandle ? "#" : "@"}</span>
        </button>
      }
    />
  );
}

/** Number or handle as the server expects it: a handle begins with "@". */
export const toSignInName = (typed: string): string =>
  /^[^@]*[a-z]/i.test(cleanPhone(typed)) ? `@${typed.trim()}` : typed.trim();
