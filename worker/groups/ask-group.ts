import type { ErrorCode } from "#contract/errors.ts";
import type { Group, MemberPage } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { type AppContext, runAfterResponse } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { logError } from "#worker/lib/log.ts";
import { deleteAvatar } from "#worker/lib/storage/avatars.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import type { GroupChangeResult, GroupCommand, MemberEntries } from "#worker/objects/rpc/groups.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { withdrawInvitations } from "./invitation-queries.ts";

/** Requests of the group routes to the group's Conversation, which checks the caller's permissions. */

/** Refusals for non-members of any group and for everybody of a missing one. */
export const groupRefusals = ["invalid_input", "group_not_found", "unavailable"] as const satisfies ErrorCode[];
export const groupChangeRefusals = [...groupRefusals, "not_allowed", "forbidden_origin"] as const satisfies ErrorCode[];

type GroupRequest<T> = (conversation: ConversationRpc, user: Uuid) => Promise<T | Refusal>;

/**
 * Sends a request to a group that the caller's channel may not know yet, such as the one being created. Retries when
 * the connection breaks.
 */
export const askNewGroup = async <T extends object>(c: AppContext, group: Uuid, request: GroupRequest<T>) =>
  callWithRetry(() => request(getConversationStub(c.env, group), c.var.caller.user));

/**
 * Sends a request to a group that the caller's channel knows. For any other id no object is created, and the response
 * time does not reveal whether the group exists.
 */
export const askGroup = async <T extends object>(
  c: AppContext,
  group: Uuid,
  request: GroupRequest<T>,
  refusal: ErrorCode = "group_not_found",
): Promise<T | Refusal> => {
  const { user } = c.var.caller;
  const isKnown = await callWithRetry(async () => ({
    isKnown: await getUserChannelStub(c.env, user).hasConversation(group),
  }));
  if (isRefusal(isKnown)) return isKnown;
  return isKnown.isKnown ? askNewGroup(c, group, request) : { error: refusal };
};

const callWithRetry = async <T extends object>(request: () => Promise<T | Refusal>): Promise<T | Refusal> => {
  try {
    return await withRetry(request);
  } catch (error) {
    logError("a group could not be reached", error);
    return { error: "unavailable" };
  }
};

export const readGroup = (c: AppContext, id: Uuid): Promise<Group | Refusal> =>
  askGroup(c, id, (group, user) => group.getGroup(user));

/** Reads a group that was just created, of which the creator's channel may not have been notified yet. */
export const readNewGroup = (c: AppContext, id: Uuid): Promise<Group | Refusal> =>
  askNewGroup(c, id, (group, user) => group.getGroup(user));

/** Commands by which an owner stops being one, which ends their invitations. */
const ownerChanges: readonly GroupCommand["type"][] = ["leave", "handOver", "end"];

/**
 * Runs a group command and deletes pictures that are no longer shown: the replaced one and, after a lost response,
 * `before`.
 */
export const executeGroupCommand = async (
  c: AppContext,
  id: Uuid,
  command: GroupCommand,
  formerPicture: string | null = null,
): Promise<GroupChangeResult | Refusal> => {
  const result = await askGroup(c, id, (group, user) => group.runGroupCommand(user, command));
  if (isRefusal(result)) return result;
  for (const key of new Set([result.replaced, formerPicture])) {
    if (key !== null) runAfterResponse(c.executionCtx, "delete a group's old picture", deleteAvatar(c.env, key));
  }
  if (ownerChanges.includes(command.type)) {
    const withdrawn = withdrawInvitations(c.env, id, { from: c.var.caller.user });
    runAfterResponse(c.executionCtx, "withdraw the invitations of a former owner", withdrawn);
  }
  return result;
};

/** Runs a group command and returns the group afterwards. */
export const changeGroup = async (c: AppContext, id: Uuid, command: GroupCommand): Promise<Group | Refusal> => {
  const result = await executeGroupCommand(c, id, command);
  return isRefusal(result) ? result : readGroup(c, id);
};

export const respondWithGroup = async (c: AppContext, pending: Promise<Group | Refusal>) => {
  const group = await pending;
  return isRefusal(group) ? refuse(c, group.error) : c.json(group, 200);
};

/** Runs a group command after which the caller may not be able to read the group. */
export const respondWithoutGroup = async (c: AppContext, id: Uuid, command: GroupCommand) => {
  const result = await executeGroupCommand(c, id, command);
  return isRefusal(result) ? refuse(c, result.error) : c.body(null, 204);
};

/**
 * Removes members whose account is deleted. They were hidden members, so their own channel did not know the group and
 * could not leave it.
 */
export const removeDeletedMembers = (
  c: AppContext,
  id: Uuid,
  { members: seats }: MemberEntries,
  { members }: MemberPage,
): void => {
  for (const [index, { user, left }] of seats.entries()) {
    if (left || members[index]?.profile !== null) continue;
    runAfterResponse(c.executionCtx, "remove a deleted member", getConversationStub(c.env, id).removeDeletedUser(user));
  }
};
