import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { type CommonNames, type RequestContext, RequestContexts } from "#contract/contacts.ts";
import type { Uuid } from "#contract/ids.ts";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** Contexts by sender, "loading" or, without a connection, undefined. */
export type RequestContextLookup = "loading" | ReadonlyMap<Uuid, RequestContext> | undefined;

const parseContexts = (body: unknown): ReadonlyMap<Uuid, RequestContext> =>
  new Map(parseResponse(RequestContexts, body).contexts.map((context) => [context.from_user_id, context]));

/** Facts from the server about the senders of received requests. Not stored on the device. */
export const useRequestContexts = (received: readonly PersonRow[]): RequestContextLookup => {
  // Another newest request asks again.
  const newest = received
    .map(({ requestId }) => requestId ?? "")
    .sort()
    .at(-1);
  const [query] = useRemoteQuery(`/api/requests/contexts?newest=${newest}`, newest !== undefined, parseContexts);
  if (query.state === "found") return query.body;
  return query.state === "loading" ? "loading" : undefined;
};

const toCountryName = (country: string, locale: string): string =>
  new Intl.DisplayNames(locale, { type: "region" }).of(country) ?? country;

/** Names of what two people have in common, with an ellipsis if there are more. */
export const toNameList = ({ count, names }: CommonNames): string =>
  `${names.map(isolateBidi).join(", ")}${count > names.length ? "…" : ""}`;

/**
 * Facts about the sender of a request: country, verification and age of the account, common contacts and groups, and why
 * there is neither picture nor number.
 */
export function RequestContextList({ person, lookup }: { person: PersonRow; lookup: RequestContextLookup }) {
  const { t } = useTranslation();
  const locale = locales[useLanguage()];
  const month = useMemo(
    () => new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" }).format(person.createdAt),
    [locale, person.createdAt],
  );
  const context = lookup === "loading" ? undefined : lookup?.get(person.id);
  const lines = [t("senga.context.since", { month })];
  if (context) {
    const proof = t(context.is_verified ? "people.verified" : "people.unverified");
    const { country, contacts, groups } = context;
    lines.unshift(country === null ? proof : `${toCountryName(country, locale)} · ${proof}`);
    if (contacts.count > 0)
      lines.push(t("senga.context.contacts", { count: contacts.count, names: toNameList(contacts) }));
    if (groups.count > 0) lines.push(t("senga.context.groups", { count: groups.count, names: toNameList(groups) }));
    if (contacts.count + groups.count === 0) lines.push(t("senga.context.nothing"));
  }
  // Members of a common group see each other's picture already.
  if (!context?.groups.count) lines.push(t("senga.context.later"));
  // While it loads, the height of a context without anything in common is reserved: the buttons do not move.
  return (
    <div
      aria-busy={lookup === "loading" || undefined}
      className={`text-sm text-muted ${context || !lookup ? "" : "min-h-20"}`}
    >
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}
