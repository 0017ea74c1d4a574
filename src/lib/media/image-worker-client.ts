import { trustedUrl } from "#lib/browser/trusted-url.ts";
import type { Drawn } from "./image-resize.ts";
import type { DrawRequest } from "./image-worker.ts";
import workerUrl from "./image-worker.ts?worker&url";

const idleMs = 10_000; // a worker holds the memory of its last picture

type Answer = { drawn: Drawn } | { failed: string };

/** The worker itself could not be had or died (its file is not here, no memory): the page may do better. */
class WorkerGone extends Error {}

let worker: Worker | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;

const end = (): void => {
  worker?.terminate();
  worker = undefined;
};

const ask = (request: DrawRequest): Promise<Answer> => {
  clearTimeout(idle);
  worker ??= new Worker(trustedUrl(workerUrl), { type: "module" });
  const asked = worker;
  return new Promise<Answer>((resolve, reject) => {
    asked.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
    asked.onerror = () => {
      end();
      reject(new WorkerGone());
    };
    asked.postMessage(request);
  }).finally(() => {
    idle = setTimeout(end, idleMs);
  });
};

const canUseWorker = (): boolean => typeof Worker !== "undefined" && typeof OffscreenCanvas !== "undefined";

const drawNow = async (file: Blob, wantsSmall: boolean, edge?: number): Promise<Drawn> => {
  if (canUseWorker()) {
    try {
      const answer = await ask({ file, wantsSmall, edge });
      if ("drawn" in answer) return answer.drawn;
      throw new Error(answer.failed);
    } catch (error) {
      if (!(error instanceof WorkerGone)) throw error;
    }
  }
  const { drawPicture } = await import("./image-resize.ts");
  return drawPicture(file, wantsSmall, edge);
};

let last: Promise<unknown> = Promise.resolve();

/** `drawPicture`, off the page's thread and one picture at a time: decoded, each is four bytes a pixel. */
export const drawInTurn = (file: Blob, wantsSmall: boolean, edge?: number): Promise<Drawn> => {
  const turn = last.then(() => drawNow(file, wantsSmall, edge));
  last = turn.catch(() => undefined);
  return turn;
};
