import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Screen } from "#components/layout/screen.tsx";
import { NoContacts } from "#components/people/no-contacts.tsx";
import { useContacts } from "#sync/hooks/use-people.ts";
import { NewGroupForm } from "./new-group-form.tsx";

/** Page for creating a group (SPEC.md §2 Create group). */
export default function CreateGroupScreen() {
  const { t } = useTranslation();
  const contacts = useContacts();
  const people = useMemo(() => contacts?.filter(({ blocked }) => blocked === 0), [contacts]);
  return (
    <Screen
      title={t("groups.create.title")}
      description={t("groups.create.description")}
      backPath="/app"
      hasProfileButton={false}
      scrolls={false}
    >
      {people?.length === 0 && (
        <div className="my-auto overflow-y-auto">
          <NoContacts />
        </div>
      )}
      {people && people.length > 0 && <NewGroupForm people={people} />}
    </Screen>
  );
}
