import type { AppContext } from "#worker/lib/http/app.ts";
import { getPublicOrigin } from "#worker/lib/http/public-origin.ts";

/** What parsers read in different ways, and no address of a page needs. */
const ambiguousCharacters = /[\s\\\p{Cc}]|%(0[0-9a-d]|2f|5c)/iu;

const parseUrl = (text: string, base?: string): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
};

const isWebAddress = ({ protocol, username, password }: URL): boolean =>
  (protocol === "https:" || protocol === "http:") && username === "" && password === "";

/** `REDIRECT_URLS`: addresses of other programs, with a space between. */
const listAllowedRedirects = (env: Pick<Env, "REDIRECT_URLS">): URL[] =>
  (env.REDIRECT_URLS as string)
    .split(/\s+/)
    .map((text) => parseUrl(text))
    .filter((url) => url !== undefined);

/**
 * Where a log-in or a mail may lead, parsed: a path of ours or an address of ours, or one of `REDIRECT_URLS` with the same
 * origin and path. Undefined for anything else; what is not clear to every parser is nothing of these.
 */
export const findRedirect = (c: AppContext, address: string): URL | undefined => {
  if (ambiguousCharacters.test(address)) return undefined;
  const own = getPublicOrigin(c);
  if (address.startsWith("/")) {
    const url = parseUrl(address, own);
    return url?.origin === own && !address.startsWith("//") ? url : undefined;
  }
  const url = parseUrl(address);
  if (!url || !isWebAddress(url)) return undefined;
  const isListed = listAllowedRedirects(c.env).some(
    ({ origin, pathname }) => origin === url.origin && pathname === url.pathname,
  );
  return url.origin === own || isListed ? url : undefined;
};

/** Whether an allowed address is another program's. */
export const isForeignUrl = (c: AppContext, url: URL): boolean => url.origin !== getPublicOrigin(c);
