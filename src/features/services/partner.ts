/** URL of the partner's site from a meta tag written by the build; undefined if none is configured. */
export const findPartnerUrl = (): URL | undefined => {
  const address = document.querySelector<HTMLMetaElement>('meta[name="partner"]')?.content ?? "";
  try {
    const url = new URL(address);
    return url.protocol === "https:" ? url : undefined;
  } catch {
    return undefined;
  }
};
