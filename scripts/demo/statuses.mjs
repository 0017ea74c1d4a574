// What the demo's people tell everybody.
import { callApi } from "./api.mjs";
import { statuses } from "./people.mjs";
import { drawPicture } from "./pictures.mjs";
import { ignore, stableId } from "./talk.mjs";

/**
 * Publishes them one after the other, so that they stand in their order. One that was taken back since stays away.
 * @param {string} origin
 * @param {Record<string, { token: string }>} known
 */
export async function publish(origin, known) {
  for (const [i, { by, text, picture }] of statuses.entries()) {
    const drawn = picture && drawPicture(picture);
    const { width, height, thumb, bytes } = drawn ?? {};
    const form = new FormData();
    const post = {
      id: stableId("status", String(i)),
      content: text,
      ...(drawn && { picture: { width, height, thumb } }),
    };
    form.append("post", JSON.stringify(post));
    if (drawn) form.append("picture", new Blob([bytes], { type: "image/png" }));
    await callApi(origin, "POST", "/api/tala", { token: known[by].token, form }).catch(ignore("post_not_found"));
  }
}
