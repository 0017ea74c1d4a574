import { groupInvitationsPath, groupPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";
import { removeInvitedPerson } from "./invited-people.ts";

/** Answers to invitations to groups, and their withdrawal. All need the network and reject with an `ApiFailure`. */

export const acceptGroupInvitation = async (id: Uuid): Promise<void> => {
  await requestApi("POST", `${groupInvitationsPath}/${id}/accept`);
};

export const declineGroupInvitation = async (id: Uuid): Promise<void> => {
  await requestApi("POST", `${groupInvitationsPath}/${id}/decline`);
};

export const withdrawGroupInvitation = async (group: Uuid, user: Uuid): Promise<void> => {
  await requestApi("DELETE", `${groupPath(group)}/invitations/${user}`);
  removeInvitedPerson(group, user);
};
