import type { Browser, BrowserContextOptions } from "@playwright/test";
import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import type { Language } from "#contract/language.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import type { Server } from "#tests/support/server/server.ts";
import { connectPeople, makePerson, type Person, type Site } from "./people.ts";

export const toSite = (server: Server): Site => ({ origin: server.origin, fetch: (url, init) => fetch(url, init) });

type PairOfPeople = { people: [Person, Person]; conversation: ConversationId };

/** Makes two connected people, numbers `n` and `n + 1`. */
export const makePair = async (site: Site, n: number): Promise<PairOfPeople> => {
  const [ana, ben] = [await makePerson(site, n), await makePerson(site, n + 1)];
  await connectPeople(site, ana, ben);
  return { people: [ana, ben], conversation: privateConversationId(ana.id, ben.id) };
};

export type Pair = PairOfPeople & { site: Site; phones: [TestClient, TestClient] };

/** Makes a pair, each signed in on a client with the chat between them open. */
export const openPair = async (
  browser: Browser,
  server: Server,
  n: number,
  language: Language = "fr",
  options: Pick<BrowserContextOptions, "serviceWorkers"> = {},
): Promise<Pair> => {
  const site = toSite(server);
  const couple = await makePair(site, n);
  const [ana, ben] = couple.people;
  const phones: [TestClient, TestClient] = [
    await TestClient.open(browser, server, language, options),
    await TestClient.open(browser, server, language, options),
  ];
  await phones[0].signInToChat(ana, ben.id);
  await phones[1].signInToChat(ben, ana.id);
  return { site, ...couple, phones };
};
