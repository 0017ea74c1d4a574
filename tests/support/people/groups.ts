import { createUuid, type Uuid } from "#contract/ids.ts";
import { callSite, type Person, type Site } from "./people.ts";

/** Creates a group of contacts of `owner`, as any API client would. */
export const makeGroup = async (site: Site, owner: Person, name: string, members: readonly Person[]): Promise<Uuid> => {
  const id = createUuid();
  const body = { id, name, members: members.map((member) => member.id) };
  const answer = await callSite(site, "POST", "/api/groups", { token: owner.token, body });
  if (answer.status !== 200) throw new Error(`no group: ${answer.status} ${JSON.stringify(answer.body)}`);
  return id;
};
