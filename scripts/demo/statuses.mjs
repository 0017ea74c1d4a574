// Public statuses of the demo's people.
import { callApi } from "./api.mjs";
import { statuses } from "./people.mjs";
import { drawPicture } from "./pictures.mjs";
import { ignoreErrors, stableId } from "./talk.mjs";
import { toEpochMs } from "./timeline.mjs";

/**
 * Form as described in `contract/tala.ts`.
 * @param {string} id
 * @param {any} status one of `statuses`
 */
function createStatusForm(id, { text, picture }) {
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
 * A status that was deleted since stays deleted.
 * @param {string} origin
 * @param {Record<string, any>} people everybody, by key
 * @returns {import("./timeline.mjs").Event[]}
 */
export const createStatusEvents = (origin, people) =>
  statuses.map((status, i) => {
    const author = people[status.by];
    const run = async () => {
      const form = createStatusForm(stableId("status", String(i)), status);
      await callApi(origin, "POST", "/api/tala", { token: author.token, form }).catch(ignoreErrors("post_not_found"));
    };
    return { at: toEpochMs(status.when), participants: [author], run };
  });
