import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { isNearScrollEnd } from "#components/layout/scroll-end.ts";
import type { Uuid } from "#contract/ids.ts";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { toNameOrNumber } from "./person-name.ts";
import { type ListedPerson, PersonListItem } from "./person-row.tsx";
import { useContactFilter } from "./use-contact-filter.ts";

type PickablePerson = ListedPerson & { id: Uuid };

type ContactPickerProps = {
  /** Selectable people in any order, without those the action does not apply to; undefined while loading. */
  people: readonly PickablePerson[] | undefined;
  /** Accessible name of the list. */
  label: string;
  /** Label of the search field, if the list contains neither contacts nor groups. */
  searchLabel?: string;
  /** Selected ids: rows are checkboxes. Without it rows are buttons that pick one person. */
  selected?: ReadonlySet<Uuid>;
  /** Called when a row is pressed: toggle the person, or continue with the one. */
  onPick: (person: PickablePerson) => void;
  /** Maximum number of selected people; further rows are disabled, with an explanation. */
  maxSelected?: number;
};

const pageRows = 40;

const rowClasses =
  "flex min-h-16 w-full items-center gap-3 px-4 py-2 text-start -outline-offset-3 [content-visibility:auto] [contain-intrinsic-size:auto_64px]";

/** Round checkbox, drawn to look the same on every device. */
function SelectionCheckmark({ isOn }: { isOn: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={`grid size-6 shrink-0 place-items-center rounded-full border-2 text-[14px] peer-focus-visible:outline-3 peer-focus-visible:outline-offset-3 peer-focus-visible:outline-accent peer-focus-visible:outline-solid ${
        isOn ? "border-accent bg-accent text-on-accent" : "border-field"
      }`}
    >
      {isOn && <span className="i-ph-check-bold" />}
    </span>
  );
}

/**
 * Searchable list of contacts and groups to choose from. It fills the given height and scrolls. With `selected` several
 * can be chosen, otherwise one. The caller owns the selection.
 */
export function ContactPicker({ people, label, selected, onPick, ...props }: ContactPickerProps) {
  const { maxSelected = Number.POSITIVE_INFINITY, searchLabel } = props;
  const { t } = useTranslation();
  const { typed, setTyped, query, sorted, found } = useContactFilter(people);
  const [limit, setLimit] = useState(pageRows);
  const list = useRef<HTMLUListElement>(null);
  const hasGroups = people?.some(({ members }) => members !== undefined) ?? false;
  const isFull = (selected?.size ?? 0) >= maxSelected;
  const names =
    sorted?.filter(({ id }) => selected?.has(id)).map((person) => isolateBidi(toNameOrNumber(person))) ?? [];

  const search = (next: string) => {
    setTyped(next);
    setLimit(pageRows);
    list.current?.scrollTo(0, 0);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="shrink-0 px-4 pb-2">
        <SearchField
          label={searchLabel ?? t(hasGroups ? "picker.searchAll" : "picker.search")}
          value={typed}
          maxLength={searchQueryMaxLength}
          onChange={search}
        />
      </div>
      {selected && (
        <p role="status" className="min-h-6 shrink-0 truncate px-5 text-sm text-muted">
          {isFull && <span className="text-danger">{t("picker.most", { count: maxSelected })} </span>}
          {names.length > 0 && <bdi>{t("picker.chosen", { names: names.join(", ") })}</bdi>}
        </p>
      )}
      {found?.length === 0 && (
        <div role="status" className="overflow-y-auto">
          {query === "" ? (
            <EmptyState icon="i-ph-address-book" title={t("picker.noneTitle")} body={t("picker.noneBody")} />
          ) : (
            <EmptyState
              icon="i-ph-binoculars"
              title={t("picker.noMatchTitle")}
              body={t("picker.noMatchBody", { query })}
            />
          )}
        </div>
      )}
      <ul
        ref={list}
        aria-label={label}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
        onScroll={({ currentTarget }) => {
          if (isNearScrollEnd(currentTarget)) setLimit((limit) => limit + pageRows);
        }}
      >
        {found?.slice(0, limit).map((person) => {
          const isOn = selected?.has(person.id) ?? false;
          const isDisabled = isFull && !isOn;
          return (
            <li key={person.id}>
              {selected ? (
                <label className={`${rowClasses} cursor-pointer relative hover:bg-raised`}>
                  <input
                    type="checkbox"
                    className="peer sr-only"
                    checked={isOn}
                    disabled={isDisabled}
                    onChange={() => onPick(person)}
                  />
                  <PersonListItem person={person} />
                  <SelectionCheckmark isOn={isOn} />
                </label>
              ) : (
                <button type="button" className={`${rowClasses} hover:bg-raised`} onClick={() => onPick(person)}>
                  <PersonListItem person={person} />
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
