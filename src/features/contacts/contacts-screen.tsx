import { lazy, Suspense, useDeferredValue, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { searchQueryMaxLength } from "../../../contract/limits";
import { EmptyState } from "../../components/empty-state";
import { MenuButton } from "../../components/menu";
import { NoContacts } from "../../components/no-contacts";
import { Screen } from "../../components/screen";
import { SearchField } from "../../components/search-field";
import { useLanguage, useT } from "../../i18n/setup";
import { matchesContact } from "../../lib/match-contact";
import { useContacts } from "../../sync/hooks";
import type { PersonRow } from "../../sync/store";
import { ContactRow } from "./contact-row";
import { useDeletion } from "./use-deletion";

/** From this many rows on, those out of sight do not exist. */
const plainRowsMax = 50;
const VirtualContacts = lazy(() => import("./virtual-contacts"));

const useShownContacts = (query: string): PersonRow[] | undefined => {
  const contacts = useContacts();
  const language = useLanguage();
  const sorted = useMemo(() => {
    const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
    return contacts && [...contacts].sort((a, b) => compare(a.username || a.phone, b.username || b.phone));
  }, [contacts, language]);
  return useMemo(() => sorted?.filter((contact) => matchesContact(query, contact)), [sorted, query]);
};

function ContactList({ contacts, deletion }: { contacts: PersonRow[]; deletion: ReturnType<typeof useDeletion> }) {
  const t = useT();
  const row = (contact: PersonRow) => (
    <ContactRow contact={contact} isDeleting={deletion.underway.has(contact.id)} onDelete={deletion.ask} />
  );
  const plain = (shown: PersonRow[]) => (
    <ul aria-label={t("contacts.title")} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      {shown.map((contact) => (
        <li key={contact.id}>{row(contact)}</li>
      ))}
    </ul>
  );
  if (contacts.length <= plainRowsMax) return plain(contacts);
  return (
    <Suspense fallback={plain(contacts.slice(0, plainRowsMax))}>
      <VirtualContacts contacts={contacts} label={t("contacts.title")}>
        {row}
      </VirtualContacts>
    </Suspense>
  );
}

/** The people one is connected with (SPEC.md §2 Contacts). */
export default function ContactsScreen() {
  const t = useT();
  const navigate = useNavigate();
  const [query, setQuery] = useState("");
  const shown = useShownContacts(useDeferredValue(query));
  const deletion = useDeletion();
  const hasNone = shown?.length === 0;
  const isSearching = query.trim() !== "";
  return (
    <Screen
      title={t("contacts.title")}
      description={t("contacts.description")}
      scrolls={false}
      actions={
        <MenuButton
          label={t("contacts.menu")}
          items={[
            {
              id: "add",
              label: t("contacts.add"),
              icon: "i-ph-user-plus",
              onSelect: () => navigate("/app/senga"),
            },
            {
              id: "blocked",
              label: t("blocked.title"),
              icon: "i-ph-prohibit",
              onSelect: () => navigate("/app/blocked"),
            },
          ]}
        />
      }
    >
      <div className="shrink-0 p-4">
        <SearchField
          label={t("contacts.searchLabel")}
          maxLength={searchQueryMaxLength}
          value={query}
          onChange={setQuery}
        />
      </div>
      {hasNone && !isSearching && <NoContacts />}
      {hasNone && isSearching && (
        <div role="status">
          <EmptyState
            icon="i-ph-binoculars"
            title={t("contacts.noMatch.title")}
            body={t("contacts.noMatch.body", { query: query.trim() })}
          />
        </div>
      )}
      {shown && shown.length > 0 && <ContactList contacts={shown} deletion={deletion} />}
      {deletion.dialog}
    </Screen>
  );
}
