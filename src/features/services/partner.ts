/** The partner's site, as the build wrote it into the app's page; undefined where this Lisolo has none. */
export const findPartnerUrl = (): URL | undefined => {
  const address = document.querySelector<HTMLMetaElement>('meta[name="partner"]')?.content ?? "";
  try {
    const url = new URL(address);
    return url.protocol === "https:" ? url : undefined;
  } catch {
    return undefined;
  }
};
