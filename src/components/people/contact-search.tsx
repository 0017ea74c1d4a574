import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { RowList } from "#components/layout/row-list.tsx";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { NoContacts } from "./no-contacts.tsx";
import { useContactFilter } from "./use-contact-filter.ts";

type ContactSearchProps<P> = {
  /** Undefined while loading. */
  contacts: P[] | undefined;
  label: string;
  /** Content above the contacts while nothing is searched. */
  lead?: ReactNode;
  getRowHeightPx: () => number;
  children: (contact: P) => ReactNode;
};

/** Contact list with a search by name or number (SPEC.md §2), and its empty states. */
export function ContactSearch<P extends { id: string; username: string; phone: string }>({
  contacts,
  label,
  lead,
  getRowHeightPx,
  children,
}: ContactSearchProps<P>) {
  const { t } = useTranslation();
  const { typed, setTyped, found } = useContactFilter(contacts);
  const hasNone = found?.length === 0;
  const query = typed.trim();
  return (
    <>
      <div className="shrink-0 p-4">
        <SearchField
          label={t("contacts.searchLabel")}
          maxLength={searchQueryMaxLength}
          value={typed}
          onChange={setTyped}
        />
      </div>
      {!found && <PaneSpinner />}
      {hasNone && query === "" && (
        <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
          {lead}
          <NoContacts />
        </div>
      )}
      {hasNone && query !== "" && (
        <div role="status">
          <EmptyState
            icon="i-ph-binoculars"
            title={t("contacts.noMatch.title")}
            body={t("contacts.noMatch.body", { query })}
          />
        </div>
      )}
      {found && found.length > 0 && (
        <RowList
          keys={found.map(({ id }) => id)}
          label={label}
          lead={query === "" && lead}
          getRowHeightPx={getRowHeightPx}
        >
          {(index) => {
            const contact = found[index];
            return contact && children(contact);
          }}
        </RowList>
      )}
    </>
  );
}
