import type { Platform } from "#sync/platform/platform.ts";
import type { StorePair } from "./open-database.ts";
import { emptyUnsentSnapshot, type UnsentSnapshot } from "./unsent-backup.ts";
import { readUnsentSnapshot } from "./unsent-snapshot.ts";

/** Handling of a database that the browser or another page closes or deletes while this page uses it. */

const salvageTimeoutMs = 3_000; // maximum delay of a deletion

/**
 * Whether the database was closed from outside, by a tab that deletes it or a browser that frees memory. Its data is
 * not at fault.
 */
export const isDatabaseClosedError = (error: unknown): boolean =>
  error instanceof Error && error.name === "DatabaseClosedError";

/** Whether the browser cannot store a value of this kind, such as a Blob. The database is not at fault. */
export const isRefusedValueError = (error: unknown): boolean =>
  error instanceof Error && error.name === "DataCloneError";

/** Reads unsent content before a deletion proceeds. The deletion waits for this page, at most `salvageTimeoutMs`. */
export const readUnsentBeforeDeletion = (platform: Platform, stores: StorePair): Promise<UnsentSnapshot> => {
  const timedOut = new Promise<UnsentSnapshot>((resolve) =>
    platform.startTimer(salvageTimeoutMs, () => resolve(emptyUnsentSnapshot)),
  );
  return Promise.race([readUnsentSnapshot(stores).catch(() => emptyUnsentSnapshot), timedOut]);
};

type StoreLossEvents = {
  onClosed(): void;
  /** Another page wants to delete or upgrade the database. Returning false leaves closing it to this page. */
  onVersionChange(newVersion: number | null): false | undefined;
};

export const watchStores = ({ store, strict }: StorePair, { onClosed, onVersionChange }: StoreLossEvents): void => {
  for (const one of [store, strict]) {
    one.on("close", onClosed);
    one.on("versionchange", ({ newVersion }) => onVersionChange(newVersion));
  }
};
