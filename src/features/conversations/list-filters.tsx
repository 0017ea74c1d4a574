import { useTranslation } from "react-i18next";
import type { ListFilter } from "#sync/hooks/use-conversations.ts";

export type ShownFilter = Exclude<ListFilter, "everything">;

const shownFilters: readonly ShownFilter[] = ["all", "unread", "groups", "archived"];

/** Moves the focus to the chosen filter, when the button that chose it disappears. */
export const focusChosenFilter = (): void =>
  document.querySelector<HTMLElement>("input[name=list-filter]:checked")?.focus();

type ListFiltersProps = { value: ShownFilter; hasArchived: boolean; onChange: (filter: ShownFilter) => void };

/** Chips that choose the part of the conversation list to show. */
export function ListFilters({ value, hasArchived, onChange }: ListFiltersProps) {
  const { t } = useTranslation();
  return (
    <fieldset className="spare -mt-1 min-w-0 shrink-0">
      <legend className="sr-only">{t("masolo.filters")}</legend>
      {/* Not the fieldset itself, which would ignore the padding when it scrolls to a chip. */}
      <div className="flex gap-1.5 overflow-x-auto px-4 pt-1 pb-3 [scroll-padding-inline:1rem]">
        {shownFilters.map(
          (filter) =>
            (filter !== "archived" || hasArchived || value === filter) && (
              <label
                key={filter}
                className={`field relative flex min-h-9 shrink-0 cursor-pointer items-center rounded-full border px-2.5 text-sm ${value === filter ? "border-accent bg-accent-soft font-semibold text-accent" : "border-line text-muted"}`}
              >
                <input
                  type="radio"
                  name="list-filter"
                  className="absolute inset-0 cursor-pointer opacity-0"
                  checked={value === filter}
                  onChange={() => onChange(filter)}
                  onFocus={({ target }) => target.scrollIntoView({ block: "nearest", inline: "nearest" })}
                />
                {t(`masolo.filter.${filter}`)}
              </label>
            ),
        )}
      </div>
    </fieldset>
  );
}
