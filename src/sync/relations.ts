import * as v from "valibot";
import type { Uuid } from "../../contract/ids";
import { Relation } from "../../contract/people";
import { request } from "../lib/api";
import type { Method } from "../lib/exchange";
import { changeRelation } from "./actions";

/** Changes how somebody stands to me, on the server and then here. Each throws `ApiFailure`. */
const change = (person: Uuid, method: Method, path: string, body?: unknown): Promise<void> =>
  changeRelation(person, async () => v.parse(Relation, await request(method, path, body)));

export const blockPerson = (person: Uuid): Promise<void> => change(person, "PUT", `/api/blocks/${person}`);
export const unblockPerson = (person: Uuid): Promise<void> => change(person, "DELETE", `/api/blocks/${person}`);
export const deleteContact = (person: Uuid): Promise<void> => change(person, "DELETE", `/api/contacts/${person}`);
export const sendRequest = (person: Uuid): Promise<void> =>
  change(person, "POST", "/api/requests", { to_user_id: person });
/** Accepts or declines somebody's request. */
export const answerRequest = (person: Uuid, requestId: Uuid, answer: "accept" | "decline"): Promise<void> =>
  change(person, "POST", `/api/requests/${requestId}/${answer}`);
