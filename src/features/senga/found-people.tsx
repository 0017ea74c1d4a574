import { Link } from "react-router";
import type { FoundPerson } from "../../../contract/people";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty-state";
import { PersonLine } from "../../components/person-line";
import { useT } from "../../i18n/setup";
import { usePerson } from "../../sync/hooks";
import type { RequestActions } from "./request-actions";

function FoundRow({ found, actions }: { found: FoundPerson; actions: RequestActions }) {
  const t = useT();
  // What this device knows is live; the search result is a moment.
  const known = usePerson(found.id);
  const state = known?.state ?? found.state;
  const requestId = known?.requestId ?? undefined;
  const deed = actions.underway.get(found.id);
  const name = found.username || found.phone;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-3">
      <span className="flex min-w-0 flex-1 basis-[190px]">
        <PersonLine person={{ ...found, avatar: found.avatar_url }} />
      </span>
      {state === "contact" && (
        <Link
          to={`/app/chat/${found.id}`}
          aria-label={t("senga.messageName", { name })}
          className="inline-flex min-h-12 grow items-center justify-center gap-2 rounded-card bg-accent px-4 py-2 font-semibold text-on-accent hover:bg-accent-hover"
        >
          {t("senga.message")}
        </Link>
      )}
      {state === "received" && (
        <Button
          className="grow !px-4"
          aria-label={t("senga.acceptName", { name })}
          busy={deed === "accept"}
          disabled={requestId === undefined || deed !== undefined}
          onClick={() => requestId && void actions.accept(found, requestId)}
        >
          {t("senga.accept")}
        </Button>
      )}
      {state === "sent" && (
        <Button look="secondary" className="grow !px-4" disabled>
          {t("senga.requestSent")}
        </Button>
      )}
      {state === "none" && (
        <Button
          className="grow !px-4"
          aria-label={t("senga.addName", { name })}
          busy={deed === "add"}
          onClick={() => void actions.add(found)}
        >
          {t("senga.add")}
        </Button>
      )}
    </li>
  );
}

/** At most ten people whose number holds the digits. */
export function FoundPeople({ people, actions }: { people: FoundPerson[]; actions: RequestActions }) {
  const t = useT();
  if (people.length === 0) {
    return <EmptyState icon="i-ph-binoculars" title={t("senga.noUsers.title")} body={t("senga.noUsers.body")} />;
  }
  return (
    <ul aria-label={t("senga.results")} className="divide-y divide-line">
      {people.map((found) => (
        <FoundRow key={found.id} found={found} actions={actions} />
      ))}
    </ul>
  );
}
