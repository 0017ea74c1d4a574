import { useSettings } from "#sync/hooks/use-settings.ts";
import { ChoiceField } from "./choice-field.tsx";
import { toContactAudience } from "./contact-audience.ts";
import { ExceptionsRow } from "./exceptions-row.tsx";
import { useUpdateSettings } from "./use-update-settings.ts";

/** Audiences to choose from. Exceptions have a row of their own. */
const choices = ["everyone", "contacts", "nobody"] as const;

type AudienceFieldProps = {
  name: "pictureTo" | "statusesTo";
  title: string;
  toTexts: (choice: (typeof choices)[number]) => { label: string; body: string };
};

/** Radio group of the people to whom a setting applies, and the contacts excepted from it. */
export function AudienceField({ name, title, toTexts }: AudienceFieldProps) {
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
