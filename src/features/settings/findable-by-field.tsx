import { useTranslation } from "react-i18next";
import { type FindableBy, findableBy } from "#contract/settings/settings.ts";
import { ChoiceField } from "./choice-field.tsx";

/** Radio group: by which digits of the phone number other users can find the account. */
export function FindableByField(props: { value: FindableBy; onChoose: (value: FindableBy) => void }) {
  const { t } = useTranslation();
  const options = findableBy.map((value) => ({
    value,
    label: t(`settings.privacy.findable.${value}`),
    body: t(`settings.privacy.findable.${value}Body`),
  }));
  return <ChoiceField title={t("settings.privacy.findable.title")} options={options} {...props} />;
}
