import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { Profile } from "#contract/people.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { toUnrelatedPersonRow } from "#sync/store/row-mapping.ts";
import { useMember, usePerson } from "./use-live-query.ts";
import { type RemoteFailure, useRemoteQuery } from "./use-remote.ts";

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
