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

/** Somebody's profile. Almost always in the local store, were it only as a member of one's groups. */
export const useProfile = (id: Uuid): [look: ProfileLookup, again: () => void] => {
  const person = usePerson(id);
  const member = useMember(id);
  const [asked, again] = useRemoteQuery(`/api/users/${id}`, person === null && member === null, parseProfileRow);
  if (person) return [{ state: "found", person }, again];
  if (person === null && member) return [{ state: "found", person: member }, again];
  return [asked.state === "found" ? { state: "found", person: asked.body } : asked, again];
};
