import { writeFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { MadeFile } from "./media.ts";

const width = 640;
const height = 480;
const frames = 4;

/** Photo of a QR code: small, oblique and grey, as a camera sees it. `source` is the address of its picture. */
export const photographCode = async (page: Page, source: string): Promise<MadeFile> => {
  const base64 = await page.evaluate(
    async ({ source, width, height }) => {
      const picture = new Image();
      picture.src = source;
      await picture.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext("2d");
      if (!context) throw new Error("no canvas");
      context.fillStyle = "#777";
      context.fillRect(0, 0, width, height);
      context.imageSmoothingEnabled = false;
      context.filter = "contrast(0.6) brightness(0.9)";
      context.translate(width / 2 + 30, height / 2 - 20);
      context.rotate(0.2);
      context.drawImage(picture, -120, -120, 240, 240);
      return canvas.toDataURL("image/png").split(",")[1] ?? "";
    },
    { source, width, height },
  );
  return { name: "code.png", mimeType: "image/png", buffer: Buffer.from(base64, "base64") };
};

/** Writes what Chromium's fake camera shows from its next start on (`--use-file-for-fake-video-capture`). */
export const filmPhoto = async (page: Page, photo: MadeFile, path: string): Promise<void> => {
  const base64 = await page.evaluate(
    async ({ source, width, height }) => {
      const picture = new Image();
      picture.src = source;
      await picture.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext("2d");
      context?.drawImage(picture, 0, 0);
      const { data } = context?.getImageData(0, 0, width, height) ?? { data: [] };
      let luma = "";
      for (let at = 0; at < data.length; at += 4) luma += String.fromCharCode(data[at] ?? 0);
      return btoa(luma);
    },
    { source: `data:image/png;base64,${photo.buffer.toString("base64")}`, width, height },
  );
  const colour = Buffer.alloc((width * height) / 2, 128);
  const frame = Buffer.concat([Buffer.from("FRAME\n"), Buffer.from(base64, "base64"), colour]);
  const header = Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`);
  await writeFile(path, Buffer.concat([header, ...Array.from({ length: frames }, () => frame)]));
};
