import { type GroupRole, isGroupActionAllowed } from "#contract/groups.ts";

/**
 * Whether a member may delete a message for everyone: its author, and in a group the owner. `groupRole` is the member's
 * role, undefined in a private chat.
 */
export const mayDeleteMessage = (isAuthor: boolean, groupRole: GroupRole | undefined): boolean =>
  isAuthor || (groupRole !== undefined && isGroupActionAllowed(groupRole, "deleteMessages"));
