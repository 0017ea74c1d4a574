import { useEffect } from "react";
import { useLastDefined } from "#components/layout/use-last-defined.ts";
import { GroupCandidates, groupPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { readInvitedPeople, saveInvitedPeople } from "#sync/actions/invited-people.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { type RemoteFailure, useRemoteQuery } from "#sync/hooks/use-remote.ts";

export type GroupCandidatesView = {
  /** People who have not answered, as last heard from the server, in any tab; undefined while unknown. */
  invited: GroupCandidates["invited"] | undefined;
  former: GroupCandidates["former"];
  /** Why the server could not be asked, undefined otherwise. */
  failure: RemoteFailure["code"] | undefined;
  refetch: () => void;
};

const parseCandidates = (body: unknown): GroupCandidates => parseResponse(GroupCandidates, body);

/**
 * Invited people and former members of a group, while `isWanted`. The server is asked again whenever the members
 * change: somebody may have accepted.
 */
export const useGroupCandidates = (group: Uuid, membersVersion: number, isWanted: boolean): GroupCandidatesView => {
  const invited = useLiveQuery(isWanted ? `invited ${group}` : undefined, ({ store }) =>
    readInvitedPeople(store, group),
  );
  const path = `${groupPath(group)}/invitations?version=${membersVersion}`;
  const [query, refetch] = useRemoteQuery(path, isWanted, parseCandidates);
  const answer = query.state === "found" ? query.body : undefined;
  const former = useLastDefined(answer?.former) ?? []; // stays visible while the server is asked again
  useEffect(() => {
    if (answer) saveInvitedPeople(group, answer.invited);
  }, [group, answer]);
  return {
    invited: invited ?? undefined,
    former,
    failure: query.state === "failed" ? query.code : undefined,
    refetch,
  };
};
