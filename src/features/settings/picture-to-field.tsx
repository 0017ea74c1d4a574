import { useTranslation } from "react-i18next";
import { type Audience, audiences } from "#contract/settings/settings.ts";
import { ChoiceField } from "./choice-field.tsx";

/** Radio group: who sees the user's picture. */
export function PictureToField(props: { value: Audience; onChoose: (value: Audience) => void }) {
  const { t } = useTranslation();
  const options = audiences
    .filter((value) => value !== "contacts_except")
    .map((value) => ({
      value,
      label: t(`settings.privacy.picture.${value}`),
      body: t(`settings.privacy.picture.${value}Body`),
    }));
  return <ChoiceField title={t("settings.privacy.picture.title")} options={options} {...props} />;
}
