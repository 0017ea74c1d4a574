import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Screen } from "#components/layout/screen.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { ContactSearch } from "#components/people/contact-search.tsx";
import { useContacts } from "#sync/hooks/use-people.ts";
import { ContactRow, getContactRowPx } from "./contact-row.tsx";
import { useContactDeletion } from "./use-contact-deletion.tsx";

/** List of contacts with search (SPEC.md §2 Contacts). */
export default function ContactsScreen() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const deletion = useContactDeletion();
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
      <ContactSearch contacts={useContacts()} label={t("contacts.title")} getRowHeightPx={getContactRowPx}>
        {(contact) => (
          <ContactRow contact={contact} isDeleting={deletion.deletingIds.has(contact.id)} onDelete={deletion.ask} />
        )}
      </ContactSearch>
      {deletion.dialog}
    </Screen>
  );
}
