import { useTranslation } from "react-i18next";
import { Screen } from "#components/layout/screen.tsx";
import { FoundPeople } from "#components/people/contact-search.tsx";
import { useContacts } from "#sync/hooks/use-live-query.ts";
import { CallRow, callRowPx } from "./call-row.tsx";

/** Whom one can call (SPEC.md §2 Makutano). */
export default function MakutanoScreen() {
  const { t } = useTranslation();
  return (
    <Screen
      title={t("makutano.title")}
      subtitle={t("makutano.subtitle")}
      description={t("makutano.description")}
      scrolls={false}
    >
      <FoundPeople contacts={useContacts()} label={t("makutano.title")} rowPx={callRowPx}>
        {(contact) => <CallRow contact={contact} />}
      </FoundPeople>
    </Screen>
  );
}
