import { useTranslation } from "react-i18next";
import { AudienceField } from "./audience-field.tsx";

/** Radio group: who sees the user's next statuses. */
export function StatusesToField() {
  const { t } = useTranslation();
  return (
    <AudienceField
      name="statusesTo"
      title={t("settings.privacy.statuses.title")}
      toTexts={(choice) => ({
        label: t(`settings.privacy.statuses.${choice}`),
        body: t(`settings.privacy.statuses.${choice}Body`),
      })}
    />
  );
}
