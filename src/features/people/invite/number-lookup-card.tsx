import { type FormEvent, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, ButtonLink } from "#components/controls/button.tsx";
import { FieldError } from "#components/controls/text-field.tsx";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { type FoundPerson, NumberLookupResult, numberLookupMax } from "#contract/people.ts";
import { toPhoneQuery } from "#contract/phone/phone-text.ts";
import { PeopleSearchResults } from "#features/people/people-search-results.tsx";
import { useContactRequestActions } from "#features/people/use-contact-request-actions.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { canPickContacts, pickContacts } from "./device-contacts.ts";
import { parseNumbers } from "./parse-numbers.ts";
import { readSavedNumbers, useSavedNumbers } from "./saved-numbers.ts";
import { toSmsLink } from "./sms-link.ts";
import type { InvitationState } from "./use-invitation.ts";

type Lookup = { people: FoundPerson[]; notFound: string[]; notSearched: number };

const lookUp = async (phones: string[]): Promise<Lookup> => {
  const { results } = parseResponse(NumberLookupResult, await requestApi("POST", "/api/people/lookup", { phones }));
  // Two forms of one number may find the same person.
  const people = new Map(results.flatMap((result) => ("person" in result ? [[result.person.id, result.person]] : [])));
  return {
    people: [...people.values()],
    notFound: phones.filter((_, index) => results[index]?.status === "none"),
    notSearched: results.filter(({ status }) => status === "not_searched").length,
  };
};

type AbsentNumberProps = { phone: string; name: string; invitation: InvitationState };

/** Number that was not found, with a link that writes an SMS with the invitation to it. */
function AbsentNumber({ phone, name, invitation }: AbsentNumberProps) {
  const { t } = useTranslation();
  const toLink = (url: string) => toSmsLink(t("invite.message", { url }), phone);
  const url = invitation.own?.invitation?.url;
  const link = useRef<HTMLAnchorElement>(null);
  const isCreating = useRef(false);
  // The link replaces the pressed button. A device without a messages app shows nothing else.
  useEffect(() => {
    if (isCreating.current && url !== undefined) link.current?.focus();
    isCreating.current = false;
  }, [url]);
  const create = async () => {
    isCreating.current = true;
    const own = await invitation.create();
    if (!own) isCreating.current = false;
    if (own?.invitation) location.assign(toLink(own.invitation.url));
  };
  const label = {
    "aria-label": t("invite.numbers.inviteName", { name: toNameOrNumber({ username: name, phone }) }),
    className: "shrink-0 !px-4",
  };
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <span className="min-w-0 flex-1 break-words">
        {name !== "" && <bdi className="block font-semibold">{name}</bdi>}
        <PhoneNumber phone={phone} className={name === "" ? "" : "text-sm text-muted"} />
      </span>
      {url === undefined ? (
        <Button variant="secondary" busy={invitation.isBusy} onClick={() => void create()} {...label}>
          {t("invite.numbers.invite")}
        </Button>
      ) : (
        <ButtonLink ref={link} variant="secondary" href={toLink(url)} {...label}>
          <span className="i-ph-chat-text text-xl" aria-hidden="true" />
          {t("invite.numbers.invite")}
        </ButtonLink>
      )}
    </li>
  );
}

const fieldId = "invite-numbers";

/** Search for several numbers, from the device's contacts or pasted. What was typed stays, whatever the result. */
export function NumberLookupCard({ invitation }: { invitation: InvitationState }) {
  const { t } = useTranslation();
  const actions = useContactRequestActions();
  const [typed, setTyped] = useState(readSavedNumbers);
  const [problems, setProblems] = useState<string[]>([]);
  const [isSearching, setSearching] = useState(false);
  const [lookup, setLookup] = useState<Lookup>();
  /** Names of picked contacts by the digits of their numbers. */
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  useSavedNumbers(typed);

  const search = async (text: string) => {
    const { numbers, badLines } = parseNumbers(text);
    const bad = badLines.map((badLine) => t("invite.numbers.badLine", badLine));
    const { length: count } = numbers;
    if (count > numberLookupMax) bad.push(t("invite.numbers.tooMany", { max: numberLookupMax, count }));
    else if (count === 0 && bad.length === 0) bad.push(t("invite.numbers.nothing"));
    setProblems(bad);
    if (count === 0 || count > numberLookupMax) return;
    setSearching(true);
    try {
      setLookup(await lookUp(numbers));
    } catch (error) {
      setProblems([...bad, toErrorText(error, t)]);
    }
    setSearching(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isSearching) void search(typed);
  };
  const pick = async () => {
    const picked = await pickContacts();
    if (picked.length === 0) return;
    setNames(
      (before) => new Map([...before, ...picked.map(({ name, phone }) => [toPhoneQuery(phone), name] as const)]),
    );
    const text = [...typed.split("\n"), ...picked.map(({ phone }) => phone)].filter((line) => line.trim()).join("\n");
    setTyped(text);
    await search(text);
  };
  const error = problems.length === 0 ? undefined : problems.join("\n");
  return (
    <>
      <form noValidate onSubmit={submit} className="flex flex-col gap-4 p-4">
        <p className="text-sm text-muted">{t("invite.numbers.body")}</p>
        {canPickContacts() && (
          <Button variant="secondary" disabled={isSearching} onClick={() => void pick()}>
            {t("invite.numbers.pick")}
          </Button>
        )}
        <div>
          <label htmlFor={fieldId} className="mb-1 block text-sm font-semibold">
            {t("invite.numbers.field")}
          </label>
          <textarea
            id={fieldId}
            rows={4}
            inputMode="tel"
            dir="ltr"
            spellCheck={false}
            autoComplete="off"
            value={typed}
            aria-invalid={error ? true : undefined}
            aria-describedby={error && `${fieldId}-error`}
            className={`field block w-full resize-y rounded-card border bg-surface px-4 py-2 ${error ? "border-danger" : "border-field"}`}
            onChange={({ target }) => {
              setTyped(target.value);
              setProblems([]);
            }}
          />
          <div role="alert" className="whitespace-pre-line">
            <FieldError id={fieldId} error={error} />
          </div>
        </div>
        <Button type="submit" busy={isSearching}>
          {t("invite.numbers.search")}
        </Button>
      </form>
      <div aria-live="polite" className="divide-y divide-line">
        {lookup && lookup.notSearched > 0 && (
          <p className="px-4 py-3">{t("invite.numbers.notSearched", { count: lookup.notSearched })}</p>
        )}
        {lookup && lookup.people.length > 0 && (
          <section aria-label={t("invite.numbers.found")}>
            <h3 className="px-4 pt-3 font-semibold">{t("invite.numbers.found")}</h3>
            <PeopleSearchResults people={lookup.people} actions={actions} />
          </section>
        )}
        {lookup && lookup.notFound.length > 0 && (
          <section aria-label={t("invite.numbers.notFound")}>
            <h3 className="px-4 pt-3 font-semibold">{t("invite.numbers.notFound")}</h3>
            <ul className="divide-y divide-line">
              {lookup.notFound.map((phone) => (
                <AbsentNumber
                  key={phone}
                  phone={phone}
                  name={names.get(toPhoneQuery(phone)) ?? ""}
                  invitation={invitation}
                />
              ))}
            </ul>
          </section>
        )}
      </div>
    </>
  );
}
