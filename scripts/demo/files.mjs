// Attachments: uploaded in parts as described in `contract/files.ts`, then referenced by a message.
import { callApi } from "./api.mjs";
import { renderPdf } from "./page.mjs";
import { drawPicture } from "./pictures.mjs";
import { renderLikembe } from "./voice.mjs";

const partBytes = 128 * 1024;

async function upload(origin, token, id, name, bytes) {
  const path = `/api/files/${id}`;
  const { ready } = await callApi(origin, "PUT", path, { token, body: { name, size: bytes.length } });
  for (let part = 0; !ready && part * partBytes < bytes.length; part++) {
    const raw = {
      type: "application/octet-stream",
      bytes: bytes.subarray(part * partBytes, (part + 1) * partBytes),
    };
    await callApi(origin, "PUT", `${path}/parts/${part}`, { token, raw });
  }
  return callApi(origin, "POST", `${path}/complete`, { token });
}

/** @returns {{ name: string, bytes: Buffer, more: Record<string, unknown> }} the file and what its message says of it besides */
function createFile({ picture, page, text }) {
  const caption = text === undefined ? {} : { text };
  if (picture) {
    const { bytes, thumb } = drawPicture(picture);
    return { name: `${picture}.png`, bytes, more: { type: "image", thumb, ...caption } };
  }
  if (page) return { name: page.name, bytes: renderPdf(page.lines), more: { type: "file", ...caption } };
  const { bytes, ms, waveform } = renderLikembe();
  return { name: "likembe.wav", bytes, more: { type: "voice", ms, waveform } };
}

/**
 * Uploads an attachment (people.mjs lists the kinds) and returns the body of its message.
 * @param {string} origin
 * @param {{ token: string }} person
 * @param {string} id the file's
 * @param {any} shown
 */
export async function uploadBody(origin, { token }, id, shown) {
  const { name, bytes, more } = createFile(shown);
  const { size, ready } = await upload(origin, token, id, name, bytes);
  const body = { ...more, file: id, name, mime: ready.type, size };
  return more["type"] === "image" ? { ...body, width: ready.width, height: ready.height } : body;
}
