import type { Locator, Page } from "@playwright/test";

/** Files for choosing, pasting and dropping. */
export type MadeFile = { name: string; mimeType: string; buffer: Buffer };

/** Picture drawn by the browser: smooth ground, many shapes, and a white top edge. */
export const makePicture = async (
  page: Page,
  name: string,
  picture: { width: number; height: number; type: "image/jpeg" | "image/png" },
): Promise<MadeFile> => {
  const base64 = await page.evaluate(async ({ width, height, type }) => {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    context.fillStyle = "#8fb8de";
    context.fillRect(0, 0, width, height);
    for (let i = 0; i < 600; i++) {
      context.fillStyle = `hsl(${(i * 47) % 360} 60% ${30 + (i % 5) * 10}%)`;
      context.fillRect((i * 7919) % width, height / 4 + ((i * 104_729) % height), width / 40, height / 50);
    }
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height / 10);
    const blob = await canvas.convertToBlob({ type, quality: 0.95 });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let binary = "";
    for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
    return btoa(binary);
  }, picture);
  return { name, mimeType: picture.type, buffer: Buffer.from(base64, "base64") };
};

/** JPEG taken with the phone on its side: EXIF orientation 6, to be rotated a quarter to the right. */
export const rotate = ({ name, mimeType, buffer }: MadeFile): MadeFile => {
  const tiff = "4d4d002a00000008" + "0001" + "0112000300000001" + "00060000" + "00000000";
  const exif = Buffer.from(`ffe10022457869660000${tiff}`, "hex");
  return { name, mimeType, buffer: Buffer.concat([buffer.subarray(0, 2), exif, buffer.subarray(2)]) };
};

/** GIF with two frames of one pixel. */
export const makeGif = (name: string): MadeFile => {
  const frame = "21f904040a000000" + "2c00000000010001000002024c0100";
  return {
    name,
    mimeType: "image/gif",
    buffer: Buffer.from(`474946383961010001008000000000ffffffff${frame}${frame}3b`, "hex"),
  };
};

const passFiles = (target: Locator, files: MadeFile[], method: "paste" | "drop"): Promise<void> =>
  target.evaluate(
    (element, [files, method]) => {
      const data = new DataTransfer();
      for (const { name, mimeType, base64 } of files) {
        const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
        data.items.add(new File([bytes], name, { type: mimeType }));
      }
      const shared = { bubbles: true, cancelable: true };
      if (method === "paste") element.dispatchEvent(new ClipboardEvent("paste", { ...shared, clipboardData: data }));
      else element.dispatchEvent(new DragEvent("drop", { ...shared, dataTransfer: data }));
    },
    [files.map(({ buffer, ...file }) => ({ ...file, base64: buffer.toString("base64") })), method] as const,
  );

/** Pastes files into a field, as Ctrl+V does. */
export const paste = (field: Locator, files: MadeFile[]): Promise<void> => passFiles(field, files, "paste");
/** Drops files on an element, as with a mouse. */
export const drop = (target: Locator, files: MadeFile[]): Promise<void> => passFiles(target, files, "drop");
/** Drags files over the window. */
export const dragOver = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["x"], "x.txt"));
    document.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
