import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { requestApi } from "#lib/http/api.ts";
import type { HttpMethod } from "#lib/http/http-request.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { loadServerCode } from "./load-code.ts";

/** Changes the relation to a person. `request` changes it on the server; `isDone` recognises the pushed change. */
export const changeRelation = async (
  person: Uuid,
  request: () => Promise<Relation>,
  isDone: (row: PersonRow) => boolean,
): Promise<void> => (await loadServerCode()).runRelationCommand(currentEngine.get()?.client, person, request, isDone);

/** Changes the relation to a person on the server, then in the local store. Rejects with an `ApiFailure`. */
const requestRelationChange = (
  person: Uuid,
  [method, path, body]: [HttpMethod, path: string, body?: unknown],
  isDone: (row: PersonRow) => boolean,
): Promise<void> => changeRelation(person, async () => v.parse(Relation, await requestApi(method, path, body)), isDone);

export const blockPerson = (person: Uuid): Promise<void> =>
  requestRelationChange(person, ["PUT", `/api/blocks/${person}`], ({ blocked }) => blocked === 1);
export const unblockPerson = (person: Uuid): Promise<void> =>
  requestRelationChange(person, ["DELETE", `/api/blocks/${person}`], ({ blocked }) => blocked === 0);
export const deleteContact = (person: Uuid): Promise<void> =>
  requestRelationChange(person, ["DELETE", `/api/contacts/${person}`], ({ state }) => state !== "contact");
/** Confirms what happened to a contact's number, on all devices. */
export const confirmNumberNotice = (person: Uuid): Promise<void> =>
  requestRelationChange(
    person,
    ["DELETE", `/api/number/notices/${person}`],
    ({ numberNotice }) => numberNotice === undefined,
  );
export const sendContactRequest = (person: Uuid): Promise<void> =>
  requestRelationChange(
    person,
    ["POST", "/api/requests", { to_user_id: person }],
    ({ state }) => state === "sent" || state === "contact",
  );
export const acceptReceivedRequest = (person: Uuid, request: Uuid): Promise<void> =>
  requestRelationChange(person, ["POST", `/api/requests/${request}/accept`], ({ state }) => state === "contact");
/** Declines a contact request. Also done if the person has sent a newer request meanwhile. */
export const declineReceivedRequest = (person: Uuid, request: Uuid): Promise<void> =>
  requestRelationChange(
    person,
    ["POST", `/api/requests/${request}/decline`],
    ({ state, requestId }) => state === "none" || (state === "received" && requestId !== request),
  );
