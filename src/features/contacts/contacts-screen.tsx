import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Screen } from "#components/layout/screen.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { FoundPeople } from "#components/people/contact-search.tsx";
import { useContacts } from "#sync/hooks/use-live-query.ts";
import { ContactRow, contactRowPx } from "./contact-row.tsx";
import { useDeletion } from "./use-deletion.tsx";

/** The people one is connected with (SPEC.md §2 Contacts). */
export default function ContactsScreen() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const deletion = useDeletion();
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
      <FoundPeople contacts={useContacts()} label={t("contacts.title")} rowPx={contactRowPx}>
        {(contact) => (
          <ContactRow contact={contact} isDeleting={deletion.underway.has(contact.id)} onDelete={deletion.ask} />
        )}
      </FoundPeople>
      {deletion.dialog}
    </Screen>
  );
}
