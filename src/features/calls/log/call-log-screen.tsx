import { useTranslation } from "react-i18next";
import { Screen } from "#components/layout/screen.tsx";
import { ContactSearch } from "#components/people/contact-search.tsx";
import { useRecentCalls } from "#sync/hooks/use-calls.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { CallableContactRow, getCallableContactRowPx } from "./callable-contact-row.tsx";
import { RecentCalls } from "./recent-calls.tsx";

/** Makutano: recent calls, and contacts to call (SPEC.md §2 Makutano). The calls are listed without contacts too. */
export default function CallLogScreen() {
  const { t } = useTranslation();
  const contacts = useContacts();
  const calls = useRecentCalls();
  return (
    <Screen
      title={t("makutano.title")}
      subtitle={t("makutano.subtitle")}
      description={t("makutano.description")}
      scrolls={false}
    >
      <ContactSearch
        contacts={calls && contacts}
        label={t("makutano.title")}
        lead={calls && <RecentCalls calls={calls} />}
        getRowHeightPx={getCallableContactRowPx}
      >
        {(contact) => <CallableContactRow contact={contact} />}
      </ContactSearch>
    </Screen>
  );
}
