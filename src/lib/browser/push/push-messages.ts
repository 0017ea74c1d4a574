import * as v from "valibot";

/**
 * Messages of the service worker to the pages: a tapped notification opens `path`, a push of this `kind` arrived, the
 * worker has stored or sent messages.
 */
const PushWorkerMessage = v.object({
  type: v.picklist(["open-path", "push-arrived", "outbox-changed"]),
  path: v.optional(v.string(), ""),
  kind: v.optional(v.string(), ""),
});
export type PushWorkerMessage = v.InferInput<typeof PushWorkerMessage>;

/** Calls the listener with each message of the service worker, and a function that answers it. */
export const subscribePushMessages = (
  listener: (message: Required<PushWorkerMessage>, answer: () => void) => void,
): (() => void) => {
  if (!("serviceWorker" in navigator)) return () => {};
  const onMessage = ({ data, ports }: MessageEvent<unknown>) => {
    const parsed = v.safeParse(PushWorkerMessage, data);
    if (parsed.success) listener(parsed.output, () => ports[0]?.postMessage(true));
  };
  navigator.serviceWorker.addEventListener("message", onMessage);
  return () => navigator.serviceWorker.removeEventListener("message", onMessage);
};
