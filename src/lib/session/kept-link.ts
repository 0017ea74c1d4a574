import { keptLinkCookie, parseKeptLink } from "#contract/names/kept-link.ts";

const cookiePattern = new RegExp(`(?:^|; )${keptLinkCookie}=([^;]*)`);

/** Link that a visitor opened before signing in; undefined if there is none. */
export const findKeptLink = (): string | undefined => {
  const value = cookiePattern.exec(document.cookie)?.[1];
  return value === undefined ? undefined : parseKeptLink(`/${value}`);
};

/** Forgets the kept link: its page is open, so the next sign-in need not open it again. */
export const deleteKeptLink = (): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox and older browsers
  document.cookie = `${keptLinkCookie}=; Path=/; Max-Age=0; Secure; SameSite=Lax`;
};
