/** Whether what the client has is this (RFC 9110 §13.1.2: compared weakly). */
export const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean => {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  return (ifNoneMatch ?? "").split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag));
};
