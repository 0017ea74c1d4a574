import { useTranslation } from "react-i18next";
import type { Audience } from "#contract/settings/settings.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { audienceIcons } from "./audience-note.tsx";

type AudienceSelectProps = { value: Audience; onChoose: (value: Audience) => void };

/** Control that shows who may read the status being written, and changes it for this status. */
export function AudienceSelect({ value, onChoose }: AudienceSelectProps) {
  const { t } = useTranslation();
  const { statusesTo: exceptions = [] } = useSettings().exceptions;
  const people = useContacts();
  // Former contacts stay in the list, but the status is not about them.
  const excepted = people?.filter(({ id }) => exceptions.includes(id)).length ?? exceptions.length;
  const contacts = exceptions.length > 0 ? "contacts_except" : "contacts";
  const shown = value === "contacts" || value === "contacts_except" ? contacts : value;
  const options = [
    { audience: "everyone", label: t("tala.audience.everyone") },
    {
      audience: contacts,
      label: excepted > 0 ? t("tala.audience.except", { people: excepted }) : t("tala.audience.contacts"),
    },
    { audience: "nobody", label: t("tala.audience.nobody") },
  ] as const;
  return (
    <span className="relative inline-flex min-w-0 items-center">
      <span
        className={`${audienceIcons[shown]} pointer-events-none absolute left-3 text-lg text-accent`}
        aria-hidden="true"
      />
      <select
        aria-label={t("tala.audience.label")}
        value={shown}
        className="min-h-12 max-w-full min-w-0 rounded-full border border-field bg-surface pr-2 pl-9 text-sm font-semibold text-ellipsis text-accent [field-sizing:content]"
        onChange={({ target }) => {
          const option = options.find(({ audience }) => audience === target.value);
          if (option) onChoose(option.audience);
        }}
      >
        {options.map(({ audience, label }) => (
          <option key={audience} value={audience}>
            {label}
          </option>
        ))}
      </select>
    </span>
  );
}
