import type { Platform } from "#sync/platform/platform.ts";
import { nothingUnsent, type Opened, putBackUnsent, readUnsentRows, type Stores } from "./open-database.ts";
import type { UnsentRows } from "./unsent-backup.ts";
import type { UnsentMirror } from "./unsent-mirror.ts";

/** A store that the browser, or another page, takes away under this one. */

const rescueMs = 3_000; // a deletion is not held up for longer

/** Closed from outside, by a tab that deletes it or a browser that frees memory: no fault of the data. */
export const isClosed = (error: unknown): boolean => error instanceof Error && error.name === "DatabaseClosedError";

/** Reads what is unsent before a deletion is let through: it waits for this page, but not for long. */
export const readBeforeDeletion = (platform: Platform, stores: Stores): Promise<UnsentRows> => {
  const late = new Promise<UnsentRows>((resolve) => platform.after(rescueMs, () => resolve(nothingUnsent)));
  return Promise.race([readUnsentRows(stores).catch(() => nothingUnsent), late]);
};

/**
 * Puts what this page knows to be unsent into a store that was made anew: `known`, or else what it read last. False when
 * messages with files are missing then; that is said once.
 */
export const refill = async (
  opened: Opened,
  me: string,
  mirror: UnsentMirror,
  known: UnsentRows = nothingUnsent,
): Promise<boolean> => {
  if (!opened.isNew) return true;
  const outbox = known.outbox.length > 0 ? known.outbox : [...mirror.rows];
  await putBackUnsent(opened, me, { ...known, outbox });
  const files = await opened.store.outbox
    .filter(({ body, state }) => body.type !== "text" && state !== "failed")
    .count();
  const isWhole = files >= mirror.fileCount;
  mirror.note(files);
  return isWhole;
};

type Events = {
  closed(): void;
  /** Another page wants it: to delete it, or for a newer version. False: this page closes it by itself. */
  wanted(newVersion: number | null): false | undefined;
};

export const watchStores = ({ store, strict }: Stores, { closed, wanted }: Events): void => {
  for (const one of [store, strict]) {
    one.on("close", closed);
    one.on("versionchange", ({ newVersion }) => wanted(newVersion));
  }
};
