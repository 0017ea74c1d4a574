import * as v from "valibot";
import { Group, type GroupCard, groupPath, Receipts, receiptsPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { waitUntilGone, waitUntilSynced } from "#sync/actions.ts";
import { activeEngine } from "#sync/engine.ts";
import { confirmByAnswerOrPush } from "#sync/outbox/confirm-by-push.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/**
 * What one does to a group, and what is asked of it. All of it needs the network and may be repeated: each rejects
 * with a SyncError. What it changes here comes as the server tells it, to all devices alike.
 */

const pictureUploadTimeoutMs = 90_000;

const getRunningTab = (): Tab => {
  const sync = activeEngine.get();
  if (!sync) throw new SyncError("unavailable");
  return sync.tab;
};

const requestParsed = async <T>(
  schema: v.GenericSchema<unknown, T>,
  request: HttpRequest,
  isRaw = false,
): Promise<T> => {
  const options = isRaw ? { raw: true, timeoutMs: pictureUploadTimeoutMs } : {};
  const parsed = v.safeParse(schema, await getRunningTab().platform.request(request, options));
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** `isDone` knows what was done by the row as the server tells it: on a bad network that may be all that comes. */
const confirmGroupChange = async (
  id: Uuid,
  work: () => Promise<unknown>,
  isDone: (row: LocalConversationRow, card: GroupCard | null) => boolean,
): Promise<void> => {
  const tab = getRunningTab();
  const known = await tab.context
    .get()
    ?.store.conversations.get(id)
    .catch(() => undefined); // a store that cannot be read keeps nobody from it
  const before = known?.told ?? 0;
  await confirmByAnswerOrPush(tab, work, async ({ conversations }) => {
    const row = await conversations.get(id);
    return row !== undefined && (row.told ?? 0) > before && isDone(row, row.group);
  });
};

/** Resolves once it can be opened here. */
export const createGroupChat = async (group: { id: Uuid; name: string; members: readonly Uuid[] }): Promise<void> => {
  const request = { method: "POST", path: "/api/groups", body: group } as const;
  await confirmGroupChange(
    group.id,
    () => requestParsed(Group, request),
    ({ gone }) => !gone,
  );
  await waitUntilSynced(group.id);
};

export const renameGroup = (id: Uuid, name: string): Promise<void> =>
  confirmGroupChange(
    id,
    () => requestParsed(Group, { method: "PATCH", path: groupPath(id), body: { name } }),
    (_, card) => card?.name === name,
  );

/** Null takes the picture away. */
export const setGroupPicture = async (id: Uuid, picture: Blob | null): Promise<void> => {
  const path = `${groupPath(id)}/picture`;
  if (picture !== null) await requestParsed(Group, { method: "PUT", path, body: picture }, true);
  else
    await confirmGroupChange(
      id,
      () => requestParsed(Group, { method: "DELETE", path }),
      (_, card) => card?.picture === null,
    );
};

export const addMembers = async (id: Uuid, members: readonly Uuid[]): Promise<void> => {
  await requestParsed(Group, { method: "POST", path: `${groupPath(id)}/members`, body: { members } });
};

export const removeMember = async (id: Uuid, user: Uuid): Promise<void> => {
  await getRunningTab().platform.request({ method: "DELETE", path: `${groupPath(id)}/members/${user}` });
};

/** Resolves once nothing of the group is left here. */
const requestRemoval = async (id: Uuid, path: string): Promise<void> => {
  const { platform } = getRunningTab();
  await confirmGroupChange(
    id,
    () => platform.request({ method: "DELETE", path }),
    ({ gone }) => gone,
  );
  await waitUntilGone(id);
};

/** `heir` follows an owner who leaves. */
export const leaveGroup = async (id: Uuid, heir?: Uuid): Promise<void> =>
  requestRemoval(id, `${groupPath(id)}/members/${getRunningTab().userId}${heir === undefined ? "" : `?heir=${heir}`}`);

/** For everybody, with all that was written there. */
export const deleteGroupForEveryone = (id: Uuid): Promise<void> => requestRemoval(id, groupPath(id));

export const transferGroupOwnership = (id: Uuid, user: Uuid): Promise<void> =>
  confirmGroupChange(
    id,
    () => requestParsed(Group, { method: "PUT", path: `${groupPath(id)}/owner`, body: { user_id: user } }),
    (_, card) => card?.role === "member",
  );

export const fetchReceipts = (id: Uuid, seq: number): Promise<Receipts> =>
  requestParsed(Receipts, { method: "GET", path: receiptsPath(id, seq) });
