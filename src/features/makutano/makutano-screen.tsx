import { useTranslation } from "react-i18next";
import { Screen } from "#components/layout/screen.tsx";
import { ContactSearch } from "#components/people/contact-search.tsx";
import { useContacts } from "#sync/hooks/use-people.ts";
import { CallableContactRow, getCallableContactRowPx } from "./callable-contact-row.tsx";

/** Makutano: contacts to call (SPEC.md §2 Makutano). */
export default function MakutanoScreen() {
  const { t } = useTranslation();
  return (
    <Screen
      title={t("makutano.title")}
      subtitle={t("makutano.subtitle")}
      description={t("makutano.description")}
      scrolls={false}
    >
      <ContactSearch contacts={useContacts()} label={t("makutano.title")} getRowHeightPx={getCallableContactRowPx}>
        {(contact) => <CallableContactRow contact={contact} />}
      </ContactSearch>
    </Screen>
  );
}
