import * as v from "valibot";
import type { Uuid } from "../../contract/ids";
import { Relation } from "../../contract/people";
import { request } from "../lib/api";
import type { Method } from "../lib/exchange";
import { applyRelation } from "./actions";

/** Changes how somebody stands to me, on the server and then here. Each throws `ApiFailure`. */
const change = async (method: Method, path: string, body?: unknown): Promise<void> => {
  await applyRelation(v.parse(Relation, await request(method, path, body)));
};

export const blockPerson = (userId: Uuid): Promise<void> => change("PUT", `/api/blocks/${userId}`);
export const unblockPerson = (userId: Uuid): Promise<void> => change("DELETE", `/api/blocks/${userId}`);
export const deleteContact = (userId: Uuid): Promise<void> => change("DELETE", `/api/contacts/${userId}`);
export const sendRequest = (userId: Uuid): Promise<void> => change("POST", "/api/requests", { to_user_id: userId });
