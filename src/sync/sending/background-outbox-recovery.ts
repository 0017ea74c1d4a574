import { toBackgroundOutboxName } from "#lib/browser/push/background-sync.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";

/**
 * Takes over what the service worker stored while the app was closed or in the background. Its code is loaded only if
 * there is something. What fails is taken over at the next start; until then the worker has it.
 */
export const recoverBackgroundOutbox = async (port: SyncPort): Promise<void> => {
  try {
    const { indexedDB: factory } = port.platform.indexedDb ?? globalThis;
    const databases = (await factory?.databases?.()) ?? [];
    if (!databases.some(({ name }) => name === toBackgroundOutboxName(port.me))) return;
    await (await import("./adopt-background-outbox.ts")).adoptBackgroundOutbox(port);
  } catch (error) {
    if (!(error instanceof SyncError)) console.warn("background outbox", error);
  }
};
