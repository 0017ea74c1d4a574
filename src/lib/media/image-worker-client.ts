import { toTrustedUrl } from "#lib/browser/trusted-url.ts";
import type { ResizedImage } from "./image-resize.ts";
import type { ResizeRequest } from "./image-worker.ts";
import workerUrl from "./image-worker.ts?worker&url";

const idleMs = 10_000; // an idle worker still holds the memory of its last picture

type ResizeResponse = { drawn: ResizedImage } | { failed: string };

/** The worker could not start or crashed (its file is missing, no memory): the page itself may succeed. */
class WorkerUnavailable extends Error {}

let worker: Worker | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;

const terminateWorker = (): void => {
  worker?.terminate();
  worker = undefined;
};

const requestResize = (request: ResizeRequest): Promise<ResizeResponse> => {
  clearTimeout(idleTimer);
  worker ??= new Worker(toTrustedUrl(workerUrl), { type: "module" });
  const asked = worker;
  return new Promise<ResizeResponse>((resolve, reject) => {
    asked.onmessage = ({ data }: MessageEvent<ResizeResponse>) => resolve(data);
    asked.onerror = () => {
      terminateWorker();
      reject(new WorkerUnavailable());
    };
    asked.postMessage(request);
  }).finally(() => {
    idleTimer = setTimeout(terminateWorker, idleMs);
  });
};

const canUseWorker = (): boolean => typeof Worker !== "undefined" && typeof OffscreenCanvas !== "undefined";

const resizeNow = async (file: Blob, wantsSmall: boolean, edge?: number): Promise<ResizedImage> => {
  if (canUseWorker()) {
    try {
      const answer = await requestResize({ file, wantsSmall, edge });
      if ("drawn" in answer) return answer.drawn;
      throw new Error(answer.failed);
    } catch (error) {
      if (!(error instanceof WorkerUnavailable)) throw error;
    }
  }
  const { resizeImage: drawPicture } = await import("./image-resize.ts");
  return drawPicture(file, wantsSmall, edge);
};

let lastJob: Promise<unknown> = Promise.resolve();

/** Runs `resizeImage` off the main thread, one picture at a time: a decoded picture takes four bytes per pixel. */
export const queueResize = (file: Blob, wantsSmall: boolean, edge?: number): Promise<ResizedImage> => {
  const turn = lastJob.then(() => resizeNow(file, wantsSmall, edge));
  lastJob = turn.catch(() => undefined);
  return turn;
};
