import type { SyncPort } from "#sync/store/sync-port.ts";

const handoverMs = 2_000; // a page that is being closed releases its locks within this time

/** Lock of a draft or recording, which this page owns until it releases it. */
export type DraftLock = { key: string; release: () => void };

/**
 * Acquires the lock of a draft: at once or not at all, or, with a signal, as soon as it is released. Resolves to
 * undefined if that failed or was aborted. A browser without locks grants every lock.
 */
const acquireLock = ({ me, platform: { locks } }: SyncPort, key: string, signal?: AbortSignal) =>
  new Promise<DraftLock | undefined>((resolve) => {
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    if (!locks) return resolve({ key, release });
    locks
      .request(`lisolo-${key}-${me}`, signal ? { signal } : { ifAvailable: true }, (lock) => {
        resolve(lock ? { key, release } : undefined);
        return lock ? held : undefined;
      })
      .catch(() => resolve(undefined));
  });

/** Acquires the lock of the first of these drafts that no page owns at this moment. */
export const acquireFreeLock = async (port: SyncPort, keys: readonly string[]): Promise<DraftLock | undefined> => {
  for (const key of keys) {
    const lock = await acquireLock(port, key);
    if (lock) return lock;
  }
  return undefined;
};

/** Acquires the lock of the first of these drafts that its page releases within `handoverMs`. */
export const acquireReleasedLock = async (port: SyncPort, keys: readonly string[]): Promise<DraftLock | undefined> => {
  if (keys.length === 0) return undefined;
  const controller = new AbortController();
  const cancel = port.platform.startTimer(handoverMs, () => controller.abort());
  let first: DraftLock | undefined;
  const tries = keys.map(async (key) => {
    const lock = await acquireLock(port, key, controller.signal);
    if (!lock) return;
    if (first) return lock.release();
    first = lock;
    controller.abort();
  });
  await Promise.all(tries);
  cancel();
  return first;
};
