import { failedShares, toSharePath } from "#contract/wire/share-target.ts";
import { type ShareSender, saveShare } from "#lib/browser/share/stored-share.ts";

const seeOther = 303;

/**
 * Sender of the form of a share. Service workers do not see `Sec-Fetch-Site`. The origin is "null" for what the system
 * shares, and also for a site that hides its own.
 */
const findSender = (request: Request): ShareSender => {
  const origin = request.headers.get("origin") ?? "null";
  if (origin === location.origin) return undefined;
  return origin === "null" ? "unknown" : "site";
};

/** Stores the content that another app shares, and leads to the page that sends it. */
export const respondWithShare = async (request: Request): Promise<Response> => {
  const id = await request
    .formData()
    .then(async (form) => (await saveShare(form, findSender(request), Date.now())) ?? failedShares.empty)
    .catch(() => failedShares.noRoom);
  return Response.redirect(toSharePath(id), seeOther);
};
