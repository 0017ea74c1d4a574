import { resizeImage } from "./image-resize.ts";

export type ResizeRequest = { file: Blob; wantsSmall: boolean; edge?: number | undefined };

self.onmessage = async ({ data: { file, wantsSmall, edge } }: MessageEvent<ResizeRequest>) => {
  try {
    self.postMessage({ resized: await resizeImage(file, wantsSmall, edge) });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};
