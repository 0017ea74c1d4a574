import type { Uuid } from "#contract/ids.ts";

/**
 * Request of a page to the service worker: to cache these files of the app, which the page has loaded; to send unsent
 * messages of a person, of one conversation; to renew a session that expires soon, before the first message needs it.
 */
export type WorkerRequest =
  | { type: "cache-files"; paths: readonly string[] }
  | { type: "send-unsent"; user: Uuid; conversation: string }
  | { type: "renew-session"; user: Uuid };

/**
 * What the service worker answers: it has sent what it could, and the server refused a message for good, which the app
 * explains; the session was renewed until that time.
 */
export type WorkerAnswer = { isRefused?: boolean; renewedUntil?: number };

/** Passes a request to the active service worker. Does nothing where there is none. */
export const requestFromWorker = async (
  request: WorkerRequest,
  onAnswer?: (answer: WorkerAnswer) => void,
): Promise<void> => {
  // Rejected where storage is denied.
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  const { port1, port2 } = new MessageChannel();
  if (onAnswer) port1.onmessage = ({ data }) => onAnswer(data as WorkerAnswer);
  registration?.active?.postMessage(request, [port2]);
};
