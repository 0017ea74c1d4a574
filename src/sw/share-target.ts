import { failedShares, toSharePath } from "#contract/wire/share-target.ts";
import { saveShare } from "#lib/browser/share/stored-share.ts";

const seeOther = 303;

/**
 * Whether a page of another site is known to have sent a form. Service workers do not see `Sec-Fetch-Site`. The origin
 * is "null" for what the system shares, and also for a site that hides its own.
 */
const isFromOtherSite = ({ headers }: Request): boolean =>
  ![null, "null", location.origin].includes(headers.get("origin"));

/** Stores the content that another app shares, and leads to the page that sends it. */
export const respondWithShare = async (request: Request): Promise<Response> => {
  const id = await request
    .formData()
    .then(async (form) => (await saveShare(form, isFromOtherSite(request), Date.now())) ?? failedShares.empty)
    .catch(() => failedShares.noRoom);
  return Response.redirect(toSharePath(id), seeOther);
};
