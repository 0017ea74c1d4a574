import * as v from "valibot";
import { Group, type GroupCard, groupPath, Receipts, receiptsPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { heardGone, heardOf } from "#sync/actions.ts";
import { running } from "#sync/engine.ts";
import { askOrHear } from "#sync/outbox/confirm-by-push.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { ConversationRow } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/**
 * What one does to a group, and what is asked of it. All of it needs the network and may be repeated: each rejects
 * with a SyncError. What it changes here comes as the server tells it, to all devices alike.
 */

const uploadTimeoutMs = 90_000;

const getTab = (): Tab => {
  const sync = running.get();
  if (!sync) throw new SyncError("unavailable");
  return sync.tab;
};

const ask = async <T>(schema: v.GenericSchema<unknown, T>, request: HttpRequest, isRaw = false): Promise<T> => {
  const options = isRaw ? { raw: true, timeoutMs: uploadTimeoutMs } : {};
  const parsed = v.safeParse(schema, await getTab().platform.request(request, options));
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** `isDone` knows what was done by the row as the server tells it: on a bad network that may be all that comes. */
const carryOut = async (
  id: Uuid,
  work: () => Promise<unknown>,
  isDone: (row: ConversationRow, card: GroupCard | null) => boolean,
): Promise<void> => {
  const tab = getTab();
  const known = await tab.context
    .get()
    ?.store.conversations.get(id)
    .catch(() => undefined); // a store that cannot be read keeps nobody from it
  const before = known?.told ?? 0;
  await askOrHear(tab, work, async ({ conversations }) => {
    const row = await conversations.get(id);
    return row !== undefined && (row.told ?? 0) > before && isDone(row, row.group);
  });
};

/** Resolves once it can be opened here. */
export const createGroup = async (group: { id: Uuid; name: string; members: readonly Uuid[] }): Promise<void> => {
  const request = { method: "POST", path: "/api/groups", body: group } as const;
  await carryOut(
    group.id,
    () => ask(Group, request),
    ({ gone }) => !gone,
  );
  await heardOf(group.id);
};

export const renameGroup = (id: Uuid, name: string): Promise<void> =>
  carryOut(
    id,
    () => ask(Group, { method: "PATCH", path: groupPath(id), body: { name } }),
    (_, card) => card?.name === name,
  );

/** Null takes the picture away. */
export const setGroupPicture = async (id: Uuid, picture: Blob | null): Promise<void> => {
  const path = `${groupPath(id)}/picture`;
  if (picture !== null) await ask(Group, { method: "PUT", path, body: picture }, true);
  else
    await carryOut(
      id,
      () => ask(Group, { method: "DELETE", path }),
      (_, card) => card?.picture === null,
    );
};

export const addMembers = async (id: Uuid, members: readonly Uuid[]): Promise<void> => {
  await ask(Group, { method: "POST", path: `${groupPath(id)}/members`, body: { members } });
};

export const removeMember = async (id: Uuid, user: Uuid): Promise<void> => {
  await getTab().platform.request({ method: "DELETE", path: `${groupPath(id)}/members/${user}` });
};

/** Resolves once nothing of the group is left here. */
const goFrom = async (id: Uuid, path: string): Promise<void> => {
  const { platform } = getTab();
  await carryOut(
    id,
    () => platform.request({ method: "DELETE", path }),
    ({ gone }) => gone,
  );
  await heardGone(id);
};

/** `heir` follows an owner who leaves. */
export const leaveGroup = async (id: Uuid, heir?: Uuid): Promise<void> =>
  goFrom(id, `${groupPath(id)}/members/${getTab().userId}${heir === undefined ? "" : `?heir=${heir}`}`);

/** For everybody, with all that was written there. */
export const endGroup = (id: Uuid): Promise<void> => goFrom(id, groupPath(id));

export const handOver = (id: Uuid, user: Uuid): Promise<void> =>
  carryOut(
    id,
    () => ask(Group, { method: "PUT", path: `${groupPath(id)}/owner`, body: { user_id: user } }),
    (_, card) => card?.role === "member",
  );

export const readReceipts = (id: Uuid, seq: number): Promise<Receipts> =>
  ask(Receipts, { method: "GET", path: receiptsPath(id, seq) });
