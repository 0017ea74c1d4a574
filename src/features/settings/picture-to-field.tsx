import { useTranslation } from "react-i18next";
import type { Audience } from "#contract/settings/settings.ts";
import { ChoiceField } from "./choice-field.tsx";

/** Choices of people without exceptions, which have a row of their own. */
const choices = ["everyone", "contacts", "nobody"] as const;
type AudienceChoice = (typeof choices)[number];

type PictureToFieldProps = { value: Audience; onChoose: (value: AudienceChoice) => void };

/** Radio group: who sees the user's picture. */
export function PictureToField({ value, onChoose }: PictureToFieldProps) {
  const { t } = useTranslation();
  const options = choices.map((choice) => ({
    value: choice,
    label: t(`settings.privacy.picture.${choice}`),
    body: t(`settings.privacy.picture.${choice}Body`),
  }));
  return (
    <ChoiceField
      title={t("settings.privacy.picture.title")}
      options={options}
      value={value === "contacts_except" ? "contacts" : value}
      onChoose={onChoose}
    />
  );
}
