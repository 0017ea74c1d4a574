import { useTranslation } from "react-i18next";
import { AudienceField } from "./audience-field.tsx";

/** Radio group: who sees the user's picture. */
export function PictureToField() {
  const { t } = useTranslation();
  return (
    <AudienceField
      name="pictureTo"
      title={t("settings.privacy.picture.title")}
      toTexts={(choice) => ({
        label: t(`settings.privacy.picture.${choice}`),
        body: t(`settings.privacy.picture.${choice}Body`),
      })}
    />
  );
}
