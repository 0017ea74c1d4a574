import { Link, useParams } from "react-router";
import { Avatar } from "../../components/avatar";
import { EmptyState } from "../../components/empty-state";
import { Screen } from "../../components/screen";
import { useT } from "../../i18n/setup";
import { usePerson } from "../../sync/hooks";

/** Somebody this device knows: name, number and, for a contact, the way into the chat. */
export default function PersonScreen() {
  const t = useT();
  const { userId } = useParams();
  const person = usePerson(userId);
  return (
    <Screen
      title={person?.username || t("contacts.person.title")}
      heading={t("contacts.person.title")}
      description={t("contacts.person.description")}
      back="/app/contacts"
      backMode="previous"
    >
      {person === null && (
        <div className="my-auto">
          <EmptyState
            icon="i-ph-user-circle-dashed"
            title={t("errors.user_not_found")}
            body={t("contacts.person.unknown")}
          />
        </div>
      )}
      {person && (
        <div className="mx-auto flex w-full max-w-120 flex-col items-center gap-2 p-6 text-center">
          <Avatar person={person} size={128} />
          <p className="mt-3 max-w-full text-2xl font-bold break-words">
            <bdi>{person.username || t("common.user")}</bdi>
          </p>
          <p className="text-muted">
            <bdi dir="ltr">{person.phone}</bdi>
          </p>
          {person.state === "contact" ? (
            <Link
              to={`/app/chat/${person.id}`}
              className="mt-6 inline-flex min-h-12 w-full items-center justify-center gap-2 rounded-card bg-accent px-6 font-semibold text-on-accent hover:bg-accent-hover"
            >
              <span className="i-ph-chat-circle-dots text-xl" aria-hidden="true" />
              {t("contacts.message")}
            </Link>
          ) : (
            <p className="mt-6 w-full rounded-card bg-raised p-4">{t("contacts.person.notConnected")}</p>
          )}
        </div>
      )}
    </Screen>
  );
}
