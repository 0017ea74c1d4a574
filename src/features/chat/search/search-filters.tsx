import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ConversationId } from "#contract/ids.ts";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import { locales } from "#i18n/locales.ts";
import type { TextKey } from "#i18n/setup.ts";
import { useLanguage } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/clock.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useGroupMembers } from "#sync/hooks/use-group.ts";

const kindOptions = [
  { value: "text", label: "searchFilters.text" },
  { value: "image", label: "gallery.image" },
  { value: "voice", label: "gallery.voice" },
  { value: "file", label: "gallery.file" },
  { value: "link", label: "gallery.link" },
  { value: "call", label: "searchFilters.call" },
] as const satisfies { value: NonNullable<SearchFilter["kind"]>; label: TextKey }[];
/** Periods, by the number of whole days before today with which they begin. */
const periodOptions = [
  { value: "today", label: "searchFilters.today", days: 0 },
  { value: "week", label: "searchFilters.week", days: 7 },
  { value: "month", label: "searchFilters.month", days: 30 },
  { value: "year", label: "searchFilters.year", days: 365 },
  { value: "older", label: "searchFilters.older", days: 365 },
] as const satisfies { value: string; label: TextKey; days: number }[];

/** Chosen filters of a search in a chat; absent ones do not limit it. */
export type ChosenFilters = {
  from?: number;
  kind?: SearchFilter["kind"];
  period?: (typeof periodOptions)[number]["value"];
};

const toDayStart = (daysAgo: number): number => {
  const day = new Date(getServerNow());
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  return day.getTime();
};

/** Filter of the search command; undefined if nothing is chosen. */
export const toSearchFilter = ({ from, kind, period }: ChosenFilters): SearchFilter | undefined => {
  const { days = 0 } = periodOptions.find(({ value }) => value === period) ?? {};
  const filter: SearchFilter = {
    ...(from === undefined ? {} : { from }),
    ...(kind === undefined ? {} : { kind }),
    ...(period === undefined ? {} : { [period === "older" ? "before" : "after"]: toDayStart(days) }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
};

type FilterSelectProps = {
  label: string;
  /** Option that does not limit the search. */
  anyLabel: string;
  options: readonly { value: string; label: string }[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** The person is about to open the list of choices. */
  onOpen?: () => void;
};

/** Chip that opens the list of choices of the browser. */
function FilterSelect({ label, anyLabel, options, value, onChange, onOpen }: FilterSelectProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ""}
      className={`min-h-12 max-w-44 min-w-0 rounded-full border px-3 text-sm font-semibold ${
        value === undefined ? "border-field bg-surface text-muted" : "border-accent bg-accent-soft text-accent"
      }`}
      onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      onFocus={onOpen}
      onPointerEnter={onOpen}
    >
      <option value="">{anyLabel}</option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

type FiltersProps = { chosen: ChosenFilters; onChange: (chosen: ChosenFilters) => void };

/** Sender of the messages, among the members of a group. */
function PersonFilter({ group, chosen, onChange }: FiltersProps & { group: ConversationId }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const card = useConversation(group)?.group;
  // The list is not fetched for a search without this filter.
  const [isWanted, setWanted] = useState(chosen.from !== undefined);
  const { members } = useGroupMembers(group, isWanted ? card?.roster : undefined);
  const options = useMemo(
    () =>
      (members ?? [])
        .map(({ number, username, phone }) => ({
          value: String(number),
          label: number === card?.number ? t("common.you") : username || phone || t("common.deletedAccount"),
        }))
        .sort((a, b) => a.label.localeCompare(b.label, locales[language])),
    [members, card?.number, t, language],
  );
  const { from, ...rest } = chosen;
  return (
    <FilterSelect
      label={t("searchFilters.person")}
      anyLabel={t("searchFilters.anyPerson")}
      options={options}
      value={from === undefined ? undefined : String(from)}
      onOpen={() => setWanted(true)}
      onChange={(value) => onChange(value === undefined ? rest : { ...rest, from: Number(value) })}
    />
  );
}

type SearchFiltersProps = FiltersProps & {
  /** The group in which a sender can be chosen. */
  group: ConversationId | undefined;
};

/** Filters below the field of a search: sender in a group, kind and period. */
export function SearchFilters({ group, chosen, onChange }: SearchFiltersProps) {
  const { t } = useTranslation();
  const { kind, period, ...rest } = chosen;
  const withChoice = <Option extends string>(
    name: "kind" | "period",
    options: readonly { value: Option }[],
    value: string | undefined,
  ): void => {
    const option = options.find((one) => one.value === value);
    const others =
      name === "kind" ? { ...rest, ...(period ? { period } : {}) } : { ...rest, ...(kind ? { kind } : {}) };
    onChange(option ? { ...others, [name]: option.value } : others);
  };
  return (
    <fieldset className="flex flex-wrap gap-2 px-3 pt-2">
      <legend className="sr-only">{t("searchFilters.title")}</legend>
      {group !== undefined && <PersonFilter group={group} chosen={chosen} onChange={onChange} />}
      <FilterSelect
        label={t("searchFilters.kind")}
        anyLabel={t("searchFilters.anyKind")}
        options={kindOptions.map(({ value, label }) => ({ value, label: t(label) }))}
        value={kind}
        onChange={(value) => withChoice("kind", kindOptions, value)}
      />
      <FilterSelect
        label={t("searchFilters.date")}
        anyLabel={t("searchFilters.anyDate")}
        options={periodOptions.map(({ value, label }) => ({ value, label: t(label) }))}
        value={period}
        onChange={(value) => withChoice("period", periodOptions, value)}
      />
    </fieldset>
  );
}
