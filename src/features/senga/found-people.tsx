import { Link } from "react-router";
import type { FoundPerson } from "../../../contract/people";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty-state";
import { PersonLine } from "../../components/person-line";
import { useT } from "../../i18n/setup";
import { usePerson } from "../../sync/hooks";
import type { RequestActions } from "./request-actions";

/** Narrow, so that name and number keep their room on a 360 px screen; long words go on two lines. */
const buttonShape = "!px-2.5 ml-auto max-w-[106px] shrink-0 text-sm leading-tight";

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
      <span className="flex min-w-0 flex-1 basis-[181px]">
        <PersonLine person={{ ...found, avatar: found.avatar_url }} />
      </span>
      {state === "contact" && (
        <Link
          to={`/app/chat/${found.id}`}
          aria-label={t("senga.messageName", { name })}
          className={`inline-flex min-h-12 items-center justify-center rounded-card bg-accent py-2 font-semibold text-on-accent hover:bg-accent-hover ${buttonShape}`}
        >
          {t("senga.message")}
        </Link>
      )}
      {state === "received" && (
        <Button
          className={buttonShape}
          aria-label={t("senga.acceptName", { name })}
          busy={deed === "accept"}
          disabled={requestId === undefined || deed !== undefined}
          onClick={() => requestId && void actions.accept(found, requestId)}
        >
          {t("senga.accept")}
        </Button>
      )}
      {state === "sent" && (
        <Button look="secondary" className={buttonShape} disabled>
          {t("senga.requestSent")}
        </Button>
      )}
      {state === "none" && (
        <Button
          className={buttonShape}
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
