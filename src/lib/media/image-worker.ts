import { drawPicture } from "./image-resize.ts";

export type DrawRequest = { file: Blob; wantsSmall: boolean; edge?: number | undefined };

self.onmessage = async ({ data: { file, wantsSmall, edge } }: MessageEvent<DrawRequest>) => {
  try {
    self.postMessage({ drawn: await drawPicture(file, wantsSmall, edge) });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};
