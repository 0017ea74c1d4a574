import * as v from "valibot";
import { Group, groupPath, Receipts, receiptsPath } from "../../contract/groups";
import type { Uuid } from "../../contract/ids";
import type { HttpRequest } from "../../contract/requests";
import { heardGone, heardOf } from "./actions";
import { running } from "./engine";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";

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

const change = async (method: HttpRequest["method"], path: string, body?: unknown): Promise<void> => {
  await ask(Group, { method, path, body });
};

/** A picture is given as soon as the group is there: where it is refused the group stands without one, and this rejects. */
export const createGroup = async ({
  picture,
  ...group
}: {
  id: Uuid;
  name: string;
  members: readonly Uuid[];
  picture?: Blob | undefined;
}): Promise<void> => {
  await change("POST", "/api/groups", group);
  if (picture) await setGroupPicture(group.id, picture);
  await heardOf(group.id);
};

export const renameGroup = (id: Uuid, name: string): Promise<void> => change("PATCH", groupPath(id), { name });

/** Null takes the picture away. */
export const setGroupPicture = async (id: Uuid, picture: Blob | null): Promise<void> => {
  const path = `${groupPath(id)}/picture`;
  if (picture === null) await change("DELETE", path);
  else await ask(Group, { method: "PUT", path, body: picture }, true);
};

export const addMembers = (id: Uuid, members: readonly Uuid[]): Promise<void> =>
  change("POST", `${groupPath(id)}/members`, { members });

export const removeMember = async (id: Uuid, user: Uuid): Promise<void> => {
  await getTab().platform.request({ method: "DELETE", path: `${groupPath(id)}/members/${user}` });
};

/** `heir` follows an owner who leaves. Resolves once nothing of the group is left here. */
export const leaveGroup = async (id: Uuid, heir?: Uuid): Promise<void> => {
  const tab = getTab();
  const query = heir === undefined ? "" : `?heir=${heir}`;
  await tab.platform.request({ method: "DELETE", path: `${groupPath(id)}/members/${tab.userId}${query}` });
  await heardGone(id);
};

export const handOver = (id: Uuid, user: Uuid): Promise<void> =>
  change("PUT", `${groupPath(id)}/owner`, { user_id: user });

/** For everybody, with all that was written there. */
export const endGroup = async (id: Uuid): Promise<void> => {
  await getTab().platform.request({ method: "DELETE", path: groupPath(id) });
  await heardGone(id);
};

export const readReceipts = (id: Uuid, seq: number): Promise<Receipts> =>
  ask(Receipts, { method: "GET", path: receiptsPath(id, seq) });
