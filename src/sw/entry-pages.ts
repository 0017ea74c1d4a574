import { find, keep } from "./store";

const cache = "entry";
const patienceMs = 3_000;

const pagePaths = ["/", "/login", "/register"];
export const isEntryPage = (path: string): boolean => pagePaths.includes(path);

/**
 * An entry page: from the network, whose answer knows the person's language; as last seen when that takes longer
 * than three seconds or fails.
 */
export const answerEntryPage = async (request: Request, path: string, later: (work: Promise<unknown>) => void) => {
  const fresh = fetch(request).then((response) => {
    if (response.ok && !response.redirected) later(keep(cache, path, response.clone()));
    return response;
  });
  const kept = await find(cache, path);
  if (!kept) return fresh;
  const patience = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), patienceMs));
  later(fresh.catch(() => undefined));
  return Promise.race([fresh.catch(() => kept), patience]);
};
