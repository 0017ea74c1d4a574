import * as v from "valibot";

/** Path to which a service worker with `recordingScript` posts the times of each push. */
export const recordPath = "/bench-push-record";

/** Times of one push in a service worker, epoch milliseconds. */
const PushRecord = v.object({
  /** Start of the worker that received it, possibly long before. */
  workerStartedAt: v.number(),
  receivedAt: v.number(),
  /** When the browser had taken the notification. */
  shownAt: v.number(),
  /** When everything that the worker does for a push was done. */
  endedAt: v.number(),
});
export type PushRecord = v.InferOutput<typeof PushRecord>;

/** Runs before a service worker's own code, and records how it handles pushes. */
export const recordingScript = `(() => {
  const now = () => performance.timeOrigin + performance.now();
  const { showNotification } = ServiceWorkerRegistration.prototype;
  let record;
  ServiceWorkerRegistration.prototype.showNotification = async function (...values) {
    await showNotification.apply(this, values);
    record.shownAt ??= now();
  };
  addEventListener("push", (event) => {
    const own = { workerStartedAt: performance.timeOrigin, receivedAt: now() };
    record = own;
    const send = () =>
      fetch("${recordPath}", { method: "POST", body: JSON.stringify({ ...own, endedAt: now() }) });
    event.waitUntil = (work) => ExtendableEvent.prototype.waitUntil.call(event, work.then(send, send));
  });
})();
`;

const waitMs = 60_000;

/** Records of the pushes that one service worker received, in order. */
export class PushRecords {
  readonly #records: PushRecord[] = [];
  #onRecord: (() => void) | undefined;

  add(json: string): void {
    this.#records.push(v.parse(PushRecord, JSON.parse(json)));
    this.#onRecord?.();
  }

  /** Resolves with the oldest record that was not taken. */
  async take(): Promise<PushRecord> {
    if (this.#records.length === 0)
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("no push arrived in the service worker")), waitMs);
        this.#onRecord = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const record = this.#records.shift();
    if (!record) throw new Error("two readers wait for the same push");
    return record;
  }
}
