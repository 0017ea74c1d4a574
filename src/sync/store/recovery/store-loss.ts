import type { Platform } from "#sync/platform/platform.ts";
import {
  emptyUnsentSnapshot,
  type OpenedStores,
  readUnsentSnapshot,
  restoreUnsentSnapshot,
  type StorePair,
} from "./open-database.ts";
import type { UnsentSnapshot } from "./unsent-backup.ts";
import type { UnsentMirror } from "./unsent-mirror.ts";

/** A store that the browser, or another page, takes away under this one. */

const salvageTimeoutMs = 3_000; // a deletion is not held up for longer

/** Closed from outside, by a tab that deletes it or a browser that frees memory: no fault of the data. */
export const isDatabaseClosedError = (error: unknown): boolean =>
  error instanceof Error && error.name === "DatabaseClosedError";

/** Reads what is unsent before a deletion is let through: it waits for this page, but not for long. */
export const readUnsentBeforeDeletion = (platform: Platform, stores: StorePair): Promise<UnsentSnapshot> => {
  const late = new Promise<UnsentSnapshot>((resolve) =>
    platform.startTimer(salvageTimeoutMs, () => resolve(emptyUnsentSnapshot)),
  );
  return Promise.race([readUnsentSnapshot(stores).catch(() => emptyUnsentSnapshot), late]);
};

/**
 * Puts what this page knows to be unsent into a store that was made anew: `known`, or else what it read last. False when
 * messages with files are missing then; that is said once.
 */
export const restoreLostUnsent = async (
  opened: OpenedStores,
  me: string,
  mirror: UnsentMirror,
  known: UnsentSnapshot = emptyUnsentSnapshot,
): Promise<boolean> => {
  if (!opened.isNew) return true;
  const outbox = known.outbox.length > 0 ? known.outbox : [...mirror.rows];
  await restoreUnsentSnapshot(opened, me, { ...known, outbox });
  const files = await opened.store.outbox
    .filter(({ body, state }) => body.type !== "text" && state !== "failed")
    .count();
  const isWhole = files >= mirror.fileCount;
  mirror.recordFileCount(files);
  return isWhole;
};

type StoreLossEvents = {
  onClosed(): void;
  /** Another page wants it: to delete it, or for a newer version. False: this page closes it by itself. */
  onVersionChange(newVersion: number | null): false | undefined;
};

export const watchStores = ({ store, strict }: StorePair, { onClosed, onVersionChange }: StoreLossEvents): void => {
  for (const one of [store, strict]) {
    one.on("close", onClosed);
    one.on("versionchange", ({ newVersion }) => onVersionChange(newVersion));
  }
};
