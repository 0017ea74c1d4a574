import type { SyncPort } from "#sync/store/sync-port.ts";

const slotHandoverMs = 2_000; // a page that is being closed releases its slot within this time

/** Slot of a draft that this page owns until it releases it. */
export type SlotLock = { key: string; release: () => void };

/**
 * Acquires the lock of a slot: at once or not at all, or, with a signal, as soon as it is released. Resolves to
 * undefined if that failed or was aborted. A browser without locks grants every slot.
 */
const acquireSlot = ({ me, platform: { locks } }: SyncPort, key: string, signal?: AbortSignal) =>
  new Promise<SlotLock | undefined>((resolve) => {
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

/** Acquires the first of these slots that no page holds at this moment. */
export const acquireFreeSlot = async (port: SyncPort, keys: readonly string[]): Promise<SlotLock | undefined> => {
  for (const key of keys) {
    const slot = await acquireSlot(port, key);
    if (slot) return slot;
  }
  return undefined;
};

/** Acquires the first of these slots that is released within `slotHandoverMs`. */
export const acquireReleasedSlot = async (port: SyncPort, keys: readonly string[]): Promise<SlotLock | undefined> => {
  const controller = new AbortController();
  const cancel = port.platform.startTimer(slotHandoverMs, () => controller.abort());
  let first: SlotLock | undefined;
  const tries = keys.map(async (key) => {
    const slot = await acquireSlot(port, key, controller.signal);
    if (!slot) return;
    if (first) return slot.release();
    first = slot;
    controller.abort();
  });
  await Promise.all(tries);
  cancel();
  return first;
};
