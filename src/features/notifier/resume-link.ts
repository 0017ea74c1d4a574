import { linkCookie, toLinkAppPath } from "#contract/names/personal-link.ts";

const cookiePattern = new RegExp(`(?:^|; )${linkCookie}=([\\w-]{22})(?:;|$)`);

/** Opens the personal link that a visitor followed before signing in. Its page deletes the cookie. */
export const resumeLink = (): void => {
  const token = cookiePattern.exec(document.cookie)?.[1];
  if (token === undefined) return;
  const path = toLinkAppPath(token);
  if (location.pathname !== path) location.replace(path);
};
