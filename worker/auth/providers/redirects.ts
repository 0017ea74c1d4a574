import type { AppContext } from "#worker/lib/http/app.ts";
import { getPublicOrigin } from "#worker/lib/http/public-origin.ts";

/** Characters that URL parsers treat differently and that no page address needs. */
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

/** `REDIRECT_URLS`: space-separated URLs of other programs. */
const listAllowedRedirects = (env: Pick<Env, "REDIRECT_URLS">): URL[] =>
  (env.REDIRECT_URLS as string)
    .split(/\s+/)
    .map((text) => parseUrl(text))
    .filter((url) => url !== undefined);

/**
 * Validated redirect target of a sign-in or a mail: a path or URL of this origin, or one of `REDIRECT_URLS` with the
 * same origin and path. Returns undefined for anything else, including URLs that parsers read differently.
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

/** Tests whether an allowed redirect URL belongs to another program. */
export const isForeignUrl = (c: AppContext, url: URL): boolean => url.origin !== getPublicOrigin(c);
