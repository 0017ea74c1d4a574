/**
 * Link that is kept while a visitor signs up or in: a personal link, "u/<token>", or a code of vouching, "v/<token>".
 * Its page in the app has the same path below /app.
 */
const keptLinkPattern = /^[uv]\/[\w-]{22}$/; // 128 bits in base64url

/** Link of a path such as "/u/<token>"; undefined for any other path. */
export const parseKeptLink = (path: string): string | undefined => {
  const link = path.slice(1);
  return keptLinkPattern.test(link) ? link : undefined;
};

export const toKeptLinkPath = (link: string): string => `/app/${link}`;

export const keptLinkCookie = "lisolo-link";
export const keptLinkSeconds = 3_600;
