import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { PersonListItem } from "#components/people/person-row.tsx";
import type { FoundPerson } from "#contract/people.ts";
import { useContacts, usePerson } from "#sync/hooks/use-people.ts";
import type { PersonRow } from "#sync/store/database.ts";
import type { ContactRequestActions } from "./use-contact-request-actions.ts";

/** Narrow buttons, so that name and number fit on a 360 px screen; long labels take two lines. */
const buttonShape = "!px-2.5 ml-auto max-w-[106px] shrink-0 text-sm leading-tight";
const maxContactMatches = 10;

const contactToFoundPerson = ({ id, username, phone, avatar }: PersonRow): FoundPerson => ({
  id,
  username,
  phone,
  avatar_url: avatar,
  state: "contact",
});

type PeopleSearchRowProps = { found: FoundPerson; isFromServer: boolean; actions: ContactRequestActions };

function PeopleSearchRow({ found, isFromServer, actions }: PeopleSearchRowProps) {
  const { t } = useTranslation();
  // The stored state is live; the search result is a snapshot.
  const stored = usePerson(found.id);
  const state = stored?.state ?? found.state;
  const requestId = stored?.requestId ?? undefined;
  const pendingAction = actions.pending.get(found.id);
  const name = toNameOrNumber(found);
  const notes = [
    ...(found.handle === undefined ? [] : [`@${found.handle}`]),
    // The device does not know it of its contacts.
    ...(isFromServer && !found.verified ? [t("people.unverified")] : []),
  ];
  return (
    <li tabIndex={-1} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-3 -outline-offset-3">
      <span className="flex min-w-0 flex-1 basis-[181px]">
        <PersonListItem
          person={{ ...found, avatar: found.avatar_url }}
          wraps
          {...(notes.length === 0 ? {} : { note: notes.join(" · ") })}
        />
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
          busy={pendingAction === "accept"}
          disabled={requestId === undefined || (pendingAction !== undefined && pendingAction !== "accept")}
          onClick={() => requestId && void actions.accept(found, requestId)}
        >
          {t("senga.accept")}
        </Button>
      )}
      {state === "sent" && (
        <Button variant="secondary" className={buttonShape} disabled>
          {t("senga.requestSent")}
        </Button>
      )}
      {state === "none" && (
        <Button
          className={buttonShape}
          aria-label={t("senga.addName", { name })}
          busy={pendingAction === "add"}
          onClick={() => void actions.add(found)}
        >
          {t("senga.add")}
        </Button>
      )}
    </li>
  );
}

type PeopleSearchResultsProps = { people: FoundPerson[]; digits?: string | undefined; actions: ContactRequestActions };

/**
 * Search results: people found by the server, or else up to ten contacts whose number contains the digits. Without
 * digits the search was for a handle.
 */
export function PeopleSearchResults({ people, digits, actions }: PeopleSearchResultsProps) {
  const { t } = useTranslation();
  const contacts = useContacts() ?? [];
  const matchingContacts =
    people.length > 0 || digits === undefined
      ? []
      : contacts.filter(({ phone }) => phone.includes(digits)).slice(0, maxContactMatches);
  const shown = people.length > 0 ? people : matchingContacts.map(contactToFoundPerson);
  if (shown.length === 0) {
    const body = t(digits === undefined ? "senga.noUsers.handleBody" : "senga.noUsers.body");
    return (
      <EmptyState
        icon="i-ph-binoculars"
        title={t("senga.noUsers.title")}
        body={body}
        action={
          digits !== undefined && (
            <Link to="/app/senga/invite" className="inline-flex min-h-12 items-center font-semibold text-accent">
              {t("senga.invite")}
            </Link>
          )
        }
      />
    );
  }
  return (
    <>
      {matchingContacts.length > 0 && (
        <p className="px-3 pt-3 text-sm text-muted">{t("senga.amongContacts", { count: matchingContacts.length })}</p>
      )}
      <ul aria-label={t("senga.results")} className="divide-y divide-line">
        {shown.map((found) => (
          <PeopleSearchRow key={found.id} found={found} isFromServer={people.length > 0} actions={actions} />
        ))}
      </ul>
    </>
  );
}
