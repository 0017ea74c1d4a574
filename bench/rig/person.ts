import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import { type Person as Account, callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

/** Person of the running product, signed up through the public API, with an API client's token. */
export type Person = Account & { origin: string };
export type Pair = { a: Person; b: Person; conversation: ConversationId };

let personCount = 0;

/** Creates two people who are contacts, with their conversation. */
export async function makePair(origin: string): Promise<Pair> {
  const site = { origin, fetch };
  const a = { ...(await makePerson(site, ++personCount, "Grâce Mbuyi")), origin };
  const b = { ...(await makePerson(site, ++personCount, "Patrick Ilunga")), origin };
  await connectPeople(site, a, b);
  return { a, b, conversation: privateConversationId(a.id, b.id) };
}

/** Sends one request to the public API. Throws if it is refused. */
export async function callAs(person: Person, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await callSite({ origin: person.origin, fetch }, method, path, { token: person.token, body });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
