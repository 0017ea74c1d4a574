import type { CommandOf } from "#contract/wire/commands.ts";
import { BackgroundOutbox, type StoredEntry } from "#lib/browser/push/background-outbox.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { insertUnsentMessages } from "./enqueue.ts";

/** Reports a read position, of which the server tells all devices, this one included. A final refusal ends it. */
const reportRead = async (platform: Platform, position: Omit<CommandOf<"mark">, "type">): Promise<void> => {
  try {
    await requestByHttp(platform, { type: "mark", ...position });
  } catch (error) {
    if (isRetryableFailure(asSyncError(error))) throw error;
  }
};

/** Takes over one entry. Once this resolves, the local store or the server has it. */
const adoptEntry = async (context: SyncContext, entry: StoredEntry["entry"]): Promise<unknown> => {
  const { conversation } = entry;
  switch (entry.type) {
    case "reply": {
      const message = { cid: entry.cid, conversation, body: { type: "text", text: entry.text } } as const;
      return retryOnQuotaError(context, () => insertUnsentMessages(context, [message]));
    }
    case "sent":
      // In a log that this device does not have yet, the message stays unsent and is sent once more under its client
      // id.
      return applyServerChanges(context, [{ type: "sent", conversation, cid: entry.cid, ...entry.place }]);
    case "read":
      return reportRead(context.platform, { conversation, delivered: entry.head, read: entry.head });
  }
};

/**
 * Moves the entries of the service worker's outbox into the local store, in their order, and deletes it when it is
 * empty. Replies keep their client ids, so that the server stores none twice although the worker may be sending it.
 */
export const adoptBackgroundOutbox = async (port: SyncPort): Promise<void> => {
  const context = port.context.get();
  if (!context || port.isInMemory) return; // a store in memory would lose them
  const { platform, me } = context;
  const { indexedDB: factory } = platform.indexedDb ?? globalThis;
  const outbox = new BackgroundOutbox(me, { indexedDB: factory, locks: platform.locks });
  const entries = await outbox.list();
  // Messages first: read positions need the network.
  const isRead = ({ entry }: StoredEntry) => entry.type === "read";
  for (const { n, entry } of [...entries.filter((one) => !isRead(one)), ...entries.filter(isRead)]) {
    await adoptEntry(context, entry);
    await outbox.replace(n);
    if (entry.type === "reply") port.notifyChanged("outbox");
  }
  await outbox.deleteIfEmpty();
};
