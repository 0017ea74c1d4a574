import { useTranslation } from "react-i18next";
import { type Exceptions, type FindableBy, findableBy, type Settings } from "#contract/settings/settings.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { ChoiceField } from "./choice-field.tsx";
import { ExceptionsRow } from "./exceptions-row.tsx";
import { useUpdateSettings } from "./use-update-settings.ts";

/** Audience of a setting that is turned on for contacts. Contacts excepted before are excepted again. */
export const toContactAudience = ({ exceptions }: Settings, name: keyof Exceptions) =>
  exceptions[name]?.length ? "contacts_except" : "contacts";

/** Audiences to choose from. Exceptions have a row of their own. */
const choices = ["everyone", "contacts", "nobody"] as const;

type AudienceFieldProps = {
  name: "pictureTo" | "statusesTo";
  title: string;
  toTexts: (choice: (typeof choices)[number]) => { label: string; body: string };
};

/** Radio group of the people to whom a setting applies, and the contacts excepted from it. */
function AudienceField({ name, title, toTexts }: AudienceFieldProps) {
  const settings = useSettings();
  const updateSettings = useUpdateSettings();
  const audience = settings[name];
  const value = audience === "contacts_except" ? "contacts" : audience;
  const exceptions = <ExceptionsRow name={name} label={title} />;
  return (
    <ChoiceField
      title={title}
      options={choices.map((choice) => ({
        value: choice,
        ...toTexts(choice),
        details: choice === "contacts" && value === "contacts" && exceptions,
      }))}
      value={value}
      onChoose={(choice) =>
        updateSettings({ [name]: choice === "contacts" ? toContactAudience(settings, name) : choice })
      }
    />
  );
}

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
