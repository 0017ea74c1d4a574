import { toKeptLinkPath } from "#contract/names/kept-link.ts";
import { findKeptLink } from "#lib/session/kept-link.ts";

/** Opens the link that a visitor followed before signing in. Its page forgets it. */
export const resumeLink = (): void => {
  const link = findKeptLink();
  if (link === undefined) return;
  const path = toKeptLinkPath(link);
  if (location.pathname !== path) location.replace(path);
};
