import * as v from "valibot";
import { Group, type GroupCard, GroupWithInvited, groupPath, Receipts, receiptsPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { confirmRowChange } from "#sync/commands/confirm-by-push.ts";
import { getEngine } from "#sync/engine/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { waitUntilLeft, waitUntilSynced } from "./wait-for-conversation.ts";

/**
 * Group commands. All need the network, may be repeated and reject with a SyncError. Their changes reach the local
 * store by the server's push, as on all devices.
 */

const pictureUploadTimeoutMs = 90_000;
/** Time after the push of a new group within which its answer names the invited people. */
const answerTimeoutMs = 1_500;

const requestParsed = async <T>(
  schema: v.GenericSchema<unknown, T>,
  request: HttpRequest,
  isRaw = false,
): Promise<T> => {
  const options = isRaw ? { isRawBody: true, timeoutMs: pictureUploadTimeoutMs } : {};
  const parsed = v.safeParse(schema, await getEngine().client.platform.request(request, options));
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** Makes a request and waits for its answer or for the pushed row, which `isDone` recognises, whichever comes first. */
const confirmGroupChange = async (
  id: Uuid,
  request: () => Promise<unknown>,
  isDone: (row: LocalConversationRow, card: GroupCard | null) => boolean,
): Promise<void> => {
  await confirmRowChange(getEngine().client, id, request, (row) => row.epoch !== "" && isDone(row, row.group));
};

/**
 * Creates a group. Resolves once it can be opened on this device, to those of the people who got an invitation instead.
 * Nobody is named if the server's push told of the group and its answer does not follow soon.
 */
export const createGroupChat = async (group: {
  id: Uuid;
  name: string;
  members: readonly Uuid[];
}): Promise<readonly Uuid[]> => {
  const request = { method: "POST", path: "/api/groups", body: group } as const;
  let answer: Promise<GroupWithInvited> | undefined;
  await confirmGroupChange(
    group.id,
    () => {
      answer = requestParsed(GroupWithInvited, request);
      return answer;
    },
    ({ gone }) => !gone,
  );
  await waitUntilSynced(group.id);
  const late = new Promise<undefined>((resolve) => {
    getEngine().client.platform.startTimer(answerTimeoutMs, () => resolve(undefined));
  });
  const created = await Promise.race([answer?.catch(() => undefined), late]);
  return created?.invited ?? [];
};

export const changeGroupName = (id: Uuid, name: string): Promise<void> =>
  confirmGroupChange(
    id,
    () => requestParsed(Group, { method: "PATCH", path: groupPath(id), body: { name } }),
    (_, card) => card?.name === name,
  );

/** Sets the group's picture; null removes it. */
export const changeGroupPicture = async (id: Uuid, picture: Blob | null): Promise<void> => {
  const path = `${groupPath(id)}/picture`;
  if (picture !== null) await requestParsed(Group, { method: "PUT", path, body: picture }, true);
  else
    await confirmGroupChange(
      id,
      () => requestParsed(Group, { method: "DELETE", path }),
      (_, card) => card?.picture === null,
    );
};

/** Adds people to a group. Returns those of them who got an invitation instead. */
export const addGroupMembers = async (id: Uuid, members: readonly Uuid[]): Promise<readonly Uuid[]> => {
  const request = { method: "POST", path: `${groupPath(id)}/members`, body: { members } } as const;
  return (await requestParsed(GroupWithInvited, request)).invited;
};

export const removeGroupMember = async (id: Uuid, user: Uuid): Promise<void> => {
  await getEngine().client.platform.request({ method: "DELETE", path: `${groupPath(id)}/members/${user}` });
};

/** Makes a request after which this person is no member. Resolves once this device knows that. */
const requestLeaving = async (id: Uuid, path: string): Promise<void> => {
  const { platform } = getEngine().client;
  await confirmGroupChange(
    id,
    () => platform.request({ method: "DELETE", path }),
    ({ open }) => !open,
  );
  await waitUntilLeft(id);
};

/** Leaves a group. `successor` becomes the owner if this person owns it. */
export const leaveGroup = async (id: Uuid, successor?: Uuid): Promise<void> => {
  const query = successor === undefined ? "" : `?heir=${successor}`;
  await requestLeaving(id, `${groupPath(id)}/members/${getEngine().userId}${query}`);
};

/** Deletes a group and its messages for all members. */
export const deleteGroupForEveryone = (id: Uuid): Promise<void> => requestLeaving(id, groupPath(id));

export const transferGroupOwnership = (id: Uuid, user: Uuid): Promise<void> =>
  confirmGroupChange(
    id,
    () => requestParsed(Group, { method: "PUT", path: `${groupPath(id)}/owner`, body: { user_id: user } }),
    (_, card) => card?.role === "member",
  );

export const fetchReceipts = (id: Uuid, seq: number): Promise<Receipts> =>
  requestParsed(Receipts, { method: "GET", path: receiptsPath(id, seq) });
