import * as v from "valibot";
import { Group, groupPath, Receipts, receiptsPath } from "../../contract/groups";
import type { Uuid } from "../../contract/ids";
import { request } from "../lib/api";
import type { Method } from "../lib/exchange";
import { heardOf } from "./actions";

/**
 * What one does to a group, and what is asked of it. All of it needs the network and may be repeated: each throws
 * `ApiFailure`. What it changes here comes as the server tells it, to all devices alike.
 */

const change = async (method: Method, path: string, body?: unknown): Promise<Group> =>
  v.parse(Group, await request(method, path, body));

/** Makes a group under an id of one's own making, and resolves once it can be opened here. */
export const createGroup = async (group: { id: Uuid; name: string; members: readonly Uuid[] }): Promise<void> => {
  await change("POST", "/api/groups", group);
  await heardOf(group.id);
};

export const renameGroup = (id: Uuid, name: string): Promise<Group> => change("PATCH", groupPath(id), { name });

export const setGroupPicture = async (id: Uuid, picture: Blob | null): Promise<Group> =>
  picture === null
    ? change("DELETE", `${groupPath(id)}/picture`)
    : v.parse(Group, await request("PUT", `${groupPath(id)}/picture`, picture, { raw: true }));

export const addMembers = (id: Uuid, members: readonly Uuid[]): Promise<Group> =>
  change("POST", `${groupPath(id)}/members`, { members });

export const removeMember = async (id: Uuid, user: Uuid): Promise<void> => {
  await request("DELETE", `${groupPath(id)}/members/${user}`);
};

/** `heir` follows an owner who leaves. */
export const leaveGroup = async (id: Uuid, me: Uuid, heir?: Uuid): Promise<void> => {
  await request("DELETE", `${groupPath(id)}/members/${me}${heir === undefined ? "" : `?heir=${heir}`}`);
};

export const handOver = (id: Uuid, user: Uuid): Promise<Group> =>
  change("PUT", `${groupPath(id)}/owner`, { user_id: user });

export const endGroup = async (id: Uuid): Promise<void> => {
  await request("DELETE", groupPath(id));
};

export const readReceipts = async (id: Uuid, seq: number): Promise<Receipts> =>
  v.parse(Receipts, await request("GET", receiptsPath(id, seq)));
