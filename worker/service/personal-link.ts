import { linkCookie, linkCookieSeconds, parseLinkPath, toLinkAppPath } from "#contract/names/personal-link.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";

export const isPersonalLink = (path: string): boolean => path.startsWith("/u/");

/**
 * Leads from a personal link to the page of the app that shows the person. Nothing is read and nothing about the owner
 * is disclosed. The cookie keeps the link for visitors, who sign in first; the app reads it afterwards.
 */
export const redirectPersonalLink = ({ url }: Request): Response => {
  const token = parseLinkPath(new URL(url).pathname);
  const headers = new Headers({ ...emptyHeaders, location: token === undefined ? "/" : toLinkAppPath(token) });
  if (token !== undefined)
    headers.set("set-cookie", `${linkCookie}=${token}; Path=/; Max-Age=${linkCookieSeconds}; Secure; SameSite=Lax`);
  return new Response(null, { status: 303, headers });
};
