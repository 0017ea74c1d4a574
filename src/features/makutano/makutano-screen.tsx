import { useTranslation } from "react-i18next";
import { FoundPeople } from "../../components/found-people";
import { Screen } from "../../components/screen";
import { useContacts } from "../../sync/hooks";
import { CallRow, callRowPx } from "./call-row";

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
