import { drawPicture } from "./shrink";

export type DrawRequest = { file: Blob; wantsSmall: boolean };

self.onmessage = async ({ data: { file, wantsSmall } }: MessageEvent<DrawRequest>) => {
  try {
    self.postMessage({ drawn: await drawPicture(file, wantsSmall) });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};
