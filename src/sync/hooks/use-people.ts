import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { Profile } from "#contract/people.ts";
import { readBlockedPeople, readContactRequests, readContacts } from "#sync/queries/people.ts";
import {
  type ContactRequests,
  memberQuery,
  ownProfileQuery,
  personRowQuery,
  requestsQuery,
} from "#sync/queries/screen-queries.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { toUnrelatedPersonRow } from "#sync/store/row-mapping.ts";
import { subscribeQuery, useLiveQuery } from "./use-live-query.ts";
import { type RemoteFailure, useRemoteQuery } from "./use-remote.ts";

/** A person known to this device; null for an unknown person. */
export const usePerson = (id: Uuid | undefined): PersonRow | null | undefined => useLiveQuery(...personRowQuery(id));

/** Last known profile of a current or former group member, as strangers see it; null for an unknown person. */
const useMember = (id: Uuid | undefined): PersonRow | null | undefined => useLiveQuery(...memberQuery(id));

/** The own profile; null before it was fetched once. */
export const useOwnProfile = (): PersonRow | null | undefined => useLiveQuery(...ownProfileQuery);

export const useContacts = (): PersonRow[] | undefined => useLiveQuery("contacts", ({ store }) => readContacts(store));

export const useRequests = (): ContactRequests | undefined => useLiveQuery(...requestsQuery);

/** People whose requests wait for an answer, and how many invitations to groups do. */
export type WaitingRequests = { people: readonly Uuid[]; invitations: number };

/** Calls the listener with the requests that wait for an answer, now and whenever they change. */
export const subscribeReceivedRequests = (listener: (waiting: WaitingRequests) => void): (() => void) =>
  subscribeQuery(
    "requests",
    ({ store }) => readContactRequests(store),
    ({ received, invitations }) => listener({ people: received.map(({ id }) => id), invitations }),
  );

/** People whom this person has blocked. */
export const useBlockedPeople = (): PersonRow[] | undefined =>
  useLiveQuery("blocked", ({ store }) => readBlockedPeople(store));

export type ProfileLookup =
  | { state: "found"; person: PersonRow }
  | { state: "loading" }
  | { state: "missing" }
  | RemoteFailure;

const parseProfileRow = (body: unknown): PersonRow => toUnrelatedPersonRow(v.parse(Profile, body));

/** Profile of a person, from the local store (also as a member of a shared group) or from the server. */
export const useProfile = (id: Uuid): [lookup: ProfileLookup, refetch: () => void] => {
  const person = usePerson(id);
  const member = useMember(id);
  const [query, refetch] = useRemoteQuery(`/api/users/${id}`, person === null && member === null, parseProfileRow);
  if (person) return [{ state: "found", person }, refetch];
  if (person === null && member) return [{ state: "found", person: member }, refetch];
  return [query.state === "found" ? { state: "found", person: query.body } : query, refetch];
};
