import { isResetUnderWay, type SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Uuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits/authentication.ts";
import type { LocalStore } from "./database.ts";

/** Security notices received on this device, newest last. Seen ones are kept because the server may send them again. */
type StoredNotice = { notice: SecurityNotice; isSeen: boolean };

const noticesKey = "security-notices";

const readStoredNotices = async (store: LocalStore): Promise<StoredNotice[]> =>
  ((await store.meta.get(noticesKey))?.value as StoredNotice[] | undefined) ?? [];

/** Requires a transaction over `meta`. */
const updateStoredNotices = async (store: LocalStore, change: (stored: StoredNotice[]) => StoredNotice[]) => {
  await store.meta.put({ key: noticesKey, value: change(await readStoredNotices(store)) });
};

/** Stores a notice, once. Requires a transaction over `meta`. */
export const insertSecurityNotice = (store: LocalStore, notice: SecurityNotice): Promise<void> =>
  updateStoredNotices(store, (stored) =>
    stored.some((entry) => entry.notice.id === notice.id)
      ? stored
      : [...stored, { notice, isSeen: false }].slice(-securityNoticesMax),
  );

/** Notices that were not dismissed, newest last. A started reset is listed only while it can be cancelled. */
export const listUnseenNotices = async (store: LocalStore, now: number): Promise<SecurityNotice[]> => {
  const stored = await readStoredNotices(store);
  const all = stored.map(({ notice }) => notice);
  const isOpen = (notice: SecurityNotice) => notice.event !== "reset_started" || isResetUnderWay(notice, all, now);
  return stored.flatMap(({ notice, isSeen }) => (isSeen || !isOpen(notice) ? [] : [notice]));
};

const markSeen = (store: LocalStore, isMeant: (notice: SecurityNotice) => boolean): Promise<void> =>
  store.transaction("rw", store.meta, () =>
    updateStoredNotices(store, (stored) =>
      stored.map((entry) => (isMeant(entry.notice) ? { ...entry, isSeen: true } : entry)),
    ),
  );

export const markNoticesSeen = (store: LocalStore, ids: readonly Uuid[]): Promise<void> =>
  markSeen(store, ({ id }) => ids.includes(id));

export const markResetNoticesSeen = (store: LocalStore): Promise<void> =>
  markSeen(store, ({ event }) => event === "reset_started");
