import { toBackgroundOutboxName } from "#lib/browser/push/background-sync.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/**
 * Takes over what the service worker stored while the app was closed or in the background. Its code is loaded only if
 * there is something. What fails is taken over at the next start; until then the worker has it.
 */
export const recoverBackgroundOutbox = async (tab: Tab): Promise<void> => {
  try {
    const { indexedDB: factory } = tab.platform.indexedDb ?? globalThis;
    const databases = (await factory?.databases?.()) ?? [];
    if (!databases.some(({ name }) => name === toBackgroundOutboxName(tab.userId))) return;
    await (await import("./adopt-background-outbox.ts")).adoptBackgroundOutbox(tab);
  } catch (error) {
    if (!(error instanceof SyncError)) console.warn("background outbox", error);
  }
};
