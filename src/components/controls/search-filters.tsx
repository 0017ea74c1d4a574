import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import type { TextKey } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { IconButton } from "./icon-button.tsx";

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

/** Chosen filters of a search; absent ones do not limit it. `from`: member number or person. */
export type ChosenFilters<From = number> = {
  from?: From;
  kind?: SearchFilter["kind"];
  period?: (typeof periodOptions)[number]["value"];
};

const toDayStart = (daysAgo: number): number => {
  const day = new Date(getServerNow());
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  return day.getTime();
};

/** Filter of a search; undefined if nothing is chosen. */
export const toSearchFilter = <From,>({
  from,
  kind,
  period,
}: ChosenFilters<From>): (Omit<SearchFilter, "from"> & { from?: From }) | undefined => {
  const { days = 0 } = periodOptions.find(({ value }) => value === period) ?? {};
  const filter = {
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
      className={`min-h-12 max-w-44 shrink-0 rounded-full border px-3 text-sm font-semibold text-ellipsis [field-sizing:content] ${
        value === undefined ? "border-field bg-surface text-muted" : "border-accent bg-accent-soft text-accent"
      }`}
      onChange={({ target }) => {
        onChange(target.value === "" ? undefined : target.value);
        // The button that clears the filters takes a part of the row.
        requestAnimationFrame(() => target.scrollIntoView({ block: "nearest", inline: "nearest" }));
      }}
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

export type FiltersProps<From = number> = {
  chosen: ChosenFilters<From>;
  onChange: (chosen: ChosenFilters<From>) => void;
};

type SenderFilterProps<From> = FiltersProps<From> & {
  options: readonly { value: From; label: string }[];
  onOpen: () => void;
};

/** Sender of the messages. Its choices may be added when the person reaches for it (`onOpen`). */
export function SenderFilter<From extends number | string>({
  options,
  chosen: { from, ...rest },
  onChange,
  onOpen,
}: SenderFilterProps<From>) {
  const { t } = useTranslation();
  return (
    <FilterSelect
      label={t("searchFilters.person")}
      anyLabel={t("searchFilters.anyPerson")}
      options={options.map(({ value, label }) => ({ value: String(value), label }))}
      value={from === undefined ? undefined : String(from)}
      onOpen={onOpen}
      onChange={(value) => {
        const option = options.find((one) => String(one.value) === value);
        onChange(option ? { ...rest, from: option.value } : rest);
      }}
    />
  );
}

/** Filters below the field of a search: the sender, if there is a choice of `people`, kind and period. */
export function SearchFilters<From>({ people, chosen, onChange }: FiltersProps<From> & { people: ReactNode }) {
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
    <fieldset className="flex min-w-0 shrink-0 items-center">
      <legend className="sr-only">{t("searchFilters.title")}</legend>
      <div className="flex min-w-0 flex-1 gap-2 overflow-x-auto px-3 py-1.5 [scroll-padding-inline:0.75rem]">
        {people}
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
      </div>
      {Object.keys(chosen).length > 0 && (
        <IconButton
          icon="i-ph-x"
          label={t("searchFilters.clear")}
          className="mr-1 text-muted"
          onClick={(event) => {
            event.currentTarget.closest("fieldset")?.querySelector("select")?.focus();
            onChange({});
          }}
        />
      )}
    </fieldset>
  );
}
