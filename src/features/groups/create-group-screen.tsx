import { useMemo } from "react";
import { Link } from "react-router";
import { EmptyState } from "../../components/empty-state";
import { Screen } from "../../components/screen";
import { useT } from "../../i18n/setup";
import { useContacts } from "../../sync/hooks";
import { NewGroupForm } from "./new-group-form";

/** SPEC.md §2 Create group. */
export default function CreateGroupScreen() {
  const t = useT();
  const contacts = useContacts();
  const people = useMemo(() => contacts?.filter(({ blocked }) => blocked === 0), [contacts]);
  return (
    <Screen
      title={t("groups.create.title")}
      description={t("groups.create.description")}
      back="/app"
      profile={false}
      scrolls={false}
    >
      {people?.length === 0 && (
        <div className="my-auto overflow-y-auto">
          <EmptyState
            icon="i-ph-address-book"
            title={t("contacts.none.title")}
            body={t("contacts.none.body")}
            action={
              <Link
                to="/app/senga"
                className="inline-flex min-h-12 items-center rounded-card bg-accent px-6 font-semibold text-on-accent hover:bg-accent-hover"
              >
                {t("contacts.none.action")}
              </Link>
            }
          />
        </div>
      )}
      {people && people.length > 0 && <NewGroupForm people={people} />}
    </Screen>
  );
}
