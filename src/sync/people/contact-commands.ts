import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { request } from "#lib/http/api.ts";
import type { Method } from "#lib/http/http-request.ts";
import { changeRelation } from "#sync/actions.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** Changes how somebody stands to me, on the server and then here. Each throws `ApiFailure`. */
const change = (
  person: Uuid,
  [method, path, body]: [Method, path: string, body?: unknown],
  isDone: (row: PersonRow) => boolean,
): Promise<void> => changeRelation(person, async () => v.parse(Relation, await request(method, path, body)), isDone);

export const blockPerson = (person: Uuid): Promise<void> =>
  change(person, ["PUT", `/api/blocks/${person}`], ({ blocked }) => blocked === 1);
export const unblockPerson = (person: Uuid): Promise<void> =>
  change(person, ["DELETE", `/api/blocks/${person}`], ({ blocked }) => blocked === 0);
export const deleteContact = (person: Uuid): Promise<void> =>
  change(person, ["DELETE", `/api/contacts/${person}`], ({ state }) => state !== "contact");
export const sendRequest = (person: Uuid): Promise<void> =>
  change(
    person,
    ["POST", "/api/requests", { to_user_id: person }],
    ({ state }) => state === "sent" || state === "contact",
  );
export const acceptRequest = (person: Uuid, request: Uuid): Promise<void> =>
  change(person, ["POST", `/api/requests/${request}/accept`], ({ state }) => state === "contact");
/** They may have asked again since. */
export const declineRequest = (person: Uuid, request: Uuid): Promise<void> =>
  change(
    person,
    ["POST", `/api/requests/${request}/decline`],
    ({ state, requestId }) => state === "none" || (state === "received" && requestId !== request),
  );
