/** Tests whether the client has the current version (RFC 9110 §13.1.2, weak comparison). */
export const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean => {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  return (ifNoneMatch ?? "").split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag));
};
