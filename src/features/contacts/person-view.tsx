import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Avatar } from "#components/people/avatar.tsx";
import { AvatarButton } from "#components/people/avatar-button.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { Profile } from "#contract/people.ts";
import { useFormat } from "#i18n/use-format.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { PersonActions } from "./person-actions.tsx";
import { PersonSettings } from "./person-settings.tsx";

function PersonFact({ icon, name, children }: { icon: string; name: string; children: ReactNode }) {
  return (
    <div className="relative min-h-14 py-2 pr-4 pl-13">
      <dt className="text-sm text-muted">
        <span className={`${icon} absolute top-4 left-4 text-[24px]`} aria-hidden="true" />
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

const parseProfile = (body: unknown): Profile => parseResponse(Profile, body);

/**
 * Handle of a person whose profile this person may read, and whether their number is verified. Not stored on the
 * device: shown once the server answers.
 */
function PersonIdentity({ id }: { id: string }) {
  const { t } = useTranslation();
  const [query] = useRemoteQuery(`/api/users/${id}`, true, parseProfile);
  if (query.state !== "found") return null;
  const { handle, verified } = query.body;
  const icon = verified ? "i-ph-seal-check text-accent" : "i-ph-seal-warning";
  return (
    <>
      {handle !== undefined && (
        <p dir="ltr" className="max-w-full text-muted break-all">
          @{handle}
        </p>
      )}
      <p className="flex items-center gap-1 text-sm text-muted">
        <span className={`${icon} shrink-0 text-lg`} aria-hidden="true" />
        {t(verified ? "people.verified" : "people.unverified")}
      </p>
    </>
  );
}

/** Profile of a deleted account: name only, no actions. */
function DeletedPerson({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  return (
    <div className="mx-auto my-auto flex w-full max-w-120 flex-col items-center gap-3 p-4 text-center">
      <Avatar person={person} size={128} />
      <p className="max-w-full text-[length:calc(1rem+8px)] leading-[calc(1rem+16px)] font-bold break-words">
        {toDisplayName(person, t)}
      </p>
      <p role="status" className="text-muted">
        {t("people.deletedBody")}
      </p>
    </div>
  );
}

/** Profile of another user. */
export function PersonView({ person }: { person: PersonRow }) {
  return person.deleted ? <DeletedPerson person={person} /> : <ActivePerson person={person} />;
}

function ActivePerson({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  const { date } = useFormat();
  return (
    <div className="mx-auto flex w-full max-w-120 flex-col gap-4 p-4 pb-8">
      <div className="flex flex-col items-center gap-1 pt-4 text-center">
        <AvatarButton person={person} size={128} />
        <p className="mt-3 max-w-full text-[length:calc(1rem+8px)] leading-[calc(1rem+16px)] font-bold break-words">
          <bdi>{person.username || t("common.user")}</bdi>
        </p>
        {person.state !== "none" && <PersonIdentity id={person.id} />}
        {person.phone !== "" && (
          <p className="text-muted">
            <PhoneNumber phone={person.phone} />
          </p>
        )}
      </div>
      <PersonActions person={person} />
      <section aria-labelledby="person-information" className="rounded-card border border-line bg-surface">
        <h2 id="person-information" className="px-4 pt-3 pb-1 font-semibold">
          {t("contacts.person.information")}
        </h2>
        <dl>
          {person.phone !== "" && (
            <PersonFact icon="i-ph-phone" name={t("contacts.person.phone")}>
              <PhoneNumber phone={person.phone} />
            </PersonFact>
          )}
          <PersonFact icon="i-ph-calendar-blank" name={t("contacts.person.since")}>
            <time dateTime={new Date(person.createdAt).toISOString()}>{date(person.createdAt)}</time>
          </PersonFact>
        </dl>
      </section>
      <PersonSettings person={person} />
    </div>
  );
}
