import { FoundPeople } from "../../components/found-people";
import { Screen } from "../../components/screen";
import { useT } from "../../i18n/setup";
import { useContacts } from "../../sync/hooks";
import { CallRow, callRowPx } from "./call-row";

/** Whom one can call (SPEC.md §2 Makutano). */
export default function MakutanoScreen() {
  const t = useT();
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
