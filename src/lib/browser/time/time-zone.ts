import { timeZoneCookie } from "#contract/wire/document/document-names.ts";

const oneYearSeconds = 31_536_000;

/** Saves this device's time zone in a cookie, for the times in documents of the Worker. */
export const saveTimeZone = (): void => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // biome-ignore lint/suspicious/noDocumentCookie: the Worker reads it
  document.cookie = `${timeZoneCookie}=${encodeURIComponent(timeZone)}; Path=/; Max-Age=${oneYearSeconds}; SameSite=Lax`;
};
