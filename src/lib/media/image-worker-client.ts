import { toTrustedUrl } from "#lib/browser/trusted-url.ts";
import type { ResizedImage } from "./image-resize.ts";
import type { ResizeRequest } from "./image-worker.ts";
import workerUrl from "./image-worker.ts?worker&url";

const idleMs = 10_000; // an idle worker still holds the memory of its last picture

type ResizeResponse = { resized: ResizedImage } | { failed: string };

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
  const activeWorker = worker;
  return new Promise<ResizeResponse>((resolve, reject) => {
    activeWorker.onmessage = ({ data }: MessageEvent<ResizeResponse>) => resolve(data);
    activeWorker.onerror = () => {
      terminateWorker();
      reject(new WorkerUnavailable());
    };
    activeWorker.postMessage(request);
  }).finally(() => {
    idleTimer = setTimeout(terminateWorker, idleMs);
  });
};

const canUseWorker = (): boolean => typeof Worker !== "undefined" && typeof OffscreenCanvas !== "undefined";

const resizeNow = async (file: Blob, wantsSmall: boolean, edge?: number): Promise<ResizedImage> => {
  if (canUseWorker()) {
    try {
      const response = await requestResize({ file, wantsSmall, edge });
      if ("resized" in response) return response.resized;
      throw new Error(response.failed);
    } catch (error) {
      if (!(error instanceof WorkerUnavailable)) throw error;
    }
  }
  const { resizeImage } = await import("./image-resize.ts");
  return resizeImage(file, wantsSmall, edge);
};

let lastJob: Promise<unknown> = Promise.resolve();

/** Runs `resizeImage` off the main thread, one picture at a time: a decoded picture takes four bytes per pixel. */
export const queueResize = (file: Blob, wantsSmall: boolean, edge?: number): Promise<ResizedImage> => {
  const job = lastJob.then(() => resizeNow(file, wantsSmall, edge));
  lastJob = job.catch(() => undefined);
  return job;
};
