import type { Browser } from "@playwright/test";
import { type ConversationId, privateConversationId } from "../../contract/ids";
import type { Language } from "../../contract/language";
import { connectPeople, makePerson, type Person, type Site } from "./people";
import { Phone } from "./phone";
import type { Server } from "./server";

export type Pair = {
  site: Site;
  people: [Person, Person];
  phones: [Phone, Phone];
  conversation: ConversationId;
};

export const siteOf = (server: Server): Site => ({ origin: server.origin, fetch: (url, init) => fetch(url, init) });

/** Two connected people, numbers `n` and `n + 1`, each signed in on a phone with the chat between them open. */
export const openPair = async (
  browser: Browser,
  server: Server,
  n: number,
  language: Language = "fr",
): Promise<Pair> => {
  const site = siteOf(server);
  const ana = await makePerson(site, n);
  const ben = await makePerson(site, n + 1);
  await connectPeople(site, ana, ben);
  const phones: [Phone, Phone] = [
    await Phone.open(browser, server, language),
    await Phone.open(browser, server, language),
  ];
  await phones[0].logIn(ana.phone);
  await phones[1].logIn(ben.phone);
  await phones[0].openChat(ben.id);
  await phones[1].openChat(ana.id);
  return { site, people: [ana, ben], phones, conversation: privateConversationId(ana.id, ben.id) };
};
