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

/** What the browser app sends with a request of its own pages. */
export const cookieSite = { "x-session-transport": "cookie", origin: site.origin };

/** The `Cookie` header of a browser that took an answer's cookies; expired ones are gone from it. */
export const cookiesOf = ({ headers }: Pick<Answer, "headers">): string =>
  headers
    .getSetCookie()
    .filter((cookie) => !/; Max-Age=0\b/.test(cookie))
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
