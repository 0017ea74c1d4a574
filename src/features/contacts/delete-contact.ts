import * as v from "valibot";
import type { Uuid } from "../../../contract/ids";
import { Relation } from "../../../contract/people";
import { request } from "../../lib/api";
import { applyRelation } from "../../sync/actions";

/** Ends the connection on the server and here. Throws `ApiFailure`. */
export const deleteContact = async (userId: Uuid): Promise<void> => {
  const answer = await request("DELETE", `/api/contacts/${userId}`);
  await applyRelation(v.parse(Relation, answer));
};
