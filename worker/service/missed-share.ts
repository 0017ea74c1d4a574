import { failedShares, shareTargetPath, toSharePath } from "#contract/wire/share-target.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";

/**
 * Content that another app shares is meant for the service worker. It arrives here if none is active, because the app
 * was never opened or the browser deleted its data.
 */
export const isMissedShare = ({ method, url }: Request): boolean =>
  method === "POST" && new URL(url).pathname === shareTargetPath;

/** Leads to the page that asks to share it again. Nothing of it is read. */
export const redirectMissedShare = (): Response =>
  new Response(null, { status: 303, headers: { ...emptyHeaders, location: toSharePath(failedShares.missed) } });
