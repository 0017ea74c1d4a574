// What the demo's people tell everybody.
import { callApi } from "./api.mjs";
import { statuses } from "./people.mjs";
import { drawPicture } from "./pictures.mjs";
import { ignore, stableId } from "./talk.mjs";

/**
 * A form as `contract/tala.ts` describes it.
 * @param {string} id
 * @param {any} status one of `statuses`
 */
function formOf(id, { text, picture }) {
  const form = new FormData();
  const post = { id, content: text };
  if (!picture) {
    form.append("post", JSON.stringify(post));
    return form;
  }
  const { width, height, thumb, bytes } = drawPicture(picture);
  form.append("post", JSON.stringify({ ...post, picture: { width, height, thumb } }));
  form.append("picture", new Blob([bytes], { type: "image/png" }));
  return form;
}

/**
 * Publishes them one after the other, so that they stand in their order. One that was taken back since stays away.
 * @param {string} origin
 * @param {Record<string, { token: string }>} known
 */
export async function publish(origin, known) {
  for (const [i, status] of statuses.entries()) {
    const form = formOf(stableId("status", String(i)), status);
    const { token } = known[status.by];
    await callApi(origin, "POST", "/api/tala", { token, form }).catch(ignore("post_not_found"));
  }
}
