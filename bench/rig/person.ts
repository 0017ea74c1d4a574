import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import { type Person as Account, callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

/** A person of the running product, signed up through the public API, with the token an API client would carry. */
export type Person = Account & { origin: string };
export type Pair = { a: Person; b: Person; conversation: ConversationId };

let personCount = 0;

/** Two new people who are each other's contacts, and their conversation. */
export async function makePair(origin: string): Promise<Pair> {
  const site = { origin, fetch };
  const a = { ...(await makePerson(site, ++personCount, "Grâce Mbuyi")), origin };
  const b = { ...(await makePerson(site, ++personCount, "Patrick Ilunga")), origin };
  await connectPeople(site, a, b);
  return { a, b, conversation: privateConversationId(a.id, b.id) };
}

/** One call of the public API. Throws when it is refused. */
export async function callAs(person: Person, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await callSite({ origin: person.origin, fetch }, method, path, { token: person.token, body });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
