import { failedShares, toSharePath } from "#contract/wire/share-target.ts";
import { saveShare } from "#lib/browser/share/stored-share.ts";

const seeOther = 303;

/** Stores the content that another app shares, and leads to the page that sends it. */
export const respondWithShare = async (request: Request): Promise<Response> => {
  const id = await request
    .formData()
    .then(async (form) => (await saveShare(form, Date.now())) ?? failedShares.empty)
    .catch(() => failedShares.noRoom);
  return Response.redirect(toSharePath(id), seeOther);
};
