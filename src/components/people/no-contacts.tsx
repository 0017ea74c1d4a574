import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { EmptyState } from "#components/layout/empty-state.tsx";

/** Empty state of the contact list, with a link to the requests. */
export function NoContacts() {
  const { t } = useTranslation();
  return (
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
  );
}
