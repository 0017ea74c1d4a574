import { crc32, deflateSync } from "node:zlib";
import * as v from "valibot";
import { FileState, filePath, partBytes, partCount, partPath } from "#contract/files.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { filePartBytes } from "#contract/limits/files.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { callSite, type Person, type Site } from "./people.ts";

/** Files in messages, made and sent as any API client would. */

const pngChunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** Picture of a sky over land, so that its orientation is visible. Noise makes the file larger. */
export const makePicture = (width: number, height: number, noise = 0): Buffer => {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  let seed = 1;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      seed = (seed * 48_271) % 2_147_483_647;
      const grain = noise * ((seed / 2_147_483_647) * 2 - 1);
      const isSun = Math.hypot(x - width * 0.7, y - height * 0.3) < Math.min(width, height) * 0.12;
      const isLand = y > height * 0.62 + Math.sin((x / width) * 7) * height * 0.06;
      const color = isSun ? [255, 209, 102] : isLand ? [46, 94, 62] : [120 + (90 * y) / height, 170, 220];
      for (let c = 0; c < 3; c++) {
        rows[y * (1 + 3 * width) + 1 + 3 * x + c] = Math.max(0, Math.min(255, (color[c] ?? 0) + grain));
      }
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", head),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
};

const soundHz = 8_000;

/** WAV tone of this duration. */
export const makeSound = (ms: number): Buffer => {
  const count = Math.round((ms / 1_000) * soundHz);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + count, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(soundHz, 24);
  head.writeUInt32LE(soundHz, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(count, 40);
  const tone = Buffer.from(Array.from({ length: count }, (_, n) => 128 + Math.round(40 * Math.sin(n / 3))));
  return Buffer.concat([head, tone]);
};

/** Details that a client sends with a file. */
export type AttachmentDetails = {
  [Body in AttachedBody as Body["type"]]: Omit<Body, "file" | "mime" | "size" | "width" | "height">;
}[AttachedBody["type"]];

/** Uploads a file and sends the message that references it. Returns the sent body. */
export const sendAttachment = async (
  site: Site,
  from: Person,
  conversation: ConversationId,
  bytes: Buffer,
  said: AttachmentDetails,
): Promise<AttachedBody> => {
  const { token } = from;
  const file = createUuid();
  const expectOk = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await callSite(site, method, path, { token, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await expectOk("PUT", filePath(file), { name: said.name, size: bytes.length });
  for (let part = 0; part < partCount(bytes.length); part++) {
    const start = part * filePartBytes;
    const { status } = await site.fetch(site.origin + partPath(file, part), {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" },
      body: new Uint8Array(bytes.subarray(start, start + partBytes(bytes.length, part))),
    });
    if (status !== 204) throw new Error(`part ${part} was not taken: ${status}`);
  }
  const { size, ready } = v.parse(FileState, await expectOk("POST", `${filePath(file)}/complete`));
  if (!ready) throw new Error("the file did not get ready");
  const pixels = said.type === "image" ? { width: ready.width, height: ready.height } : {};
  const body = { ...said, ...pixels, file, mime: ready.type, size } as AttachedBody;
  const messages = [{ cid: createUuid(), body }];
  await expectOk("POST", `/api/conversations/${conversation}/messages`, { messages });
  return body;
};
