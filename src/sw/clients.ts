import type { PushWorkerMessage } from "#lib/browser/push/push-messages.ts";

/** Pages of this origin, as the service worker sees them. */
declare const self: ServiceWorkerGlobalScope;

export const listWindows = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

/** Sends a message to all pages of this origin. */
export const announceToPages = async (message: PushWorkerMessage): Promise<void> => {
  for (const client of await listWindows()) client.postMessage(message);
};
