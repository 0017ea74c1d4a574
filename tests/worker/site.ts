import { exports } from "cloudflare:workers";
import { type Answer, type Call, callSite, makePerson, type Person, type Site } from "../support/people";

/** The Worker under test, reached as a browser or a program would reach it. */
export const site: Site = {
  origin: "https://lisolo.test",
  fetch: (url, init) => exports.default.fetch(url, init),
};

export const call = (method: string, path: string, options?: Call): Promise<Answer> =>
  callSite(site, method, path, options);

let lastNumber = 0;

/** The next person nobody has met yet. */
export const newPerson = (): Promise<Person> => makePerson(site, ++lastNumber);
