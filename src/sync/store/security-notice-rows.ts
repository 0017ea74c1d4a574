import { isResetUnderWay, type SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Uuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits/authentication.ts";
import type { LocalStore } from "./database.ts";

/** Security notices received on this device, newest last. Seen ones are kept because the server may send them again. */
type StoredNotice = { notice: SecurityNotice; isSeen: boolean };

const noticesKey = "security-notices";

const readStoredNotices = async (store: LocalStore): Promise<StoredNotice[]> =>
  ((await store.meta.get(noticesKey))?.value as StoredNotice[] | undefined) ?? [];

const updateStoredNotices = (store: LocalStore, change: (stored: StoredNotice[]) => StoredNotice[]): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    await store.meta.put({ key: noticesKey, value: change(await readStoredNotices(store)) });
  });

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

export const markNoticesSeen = (store: LocalStore, ids: readonly Uuid[]): Promise<void> =>
  updateStoredNotices(store, (stored) =>
    stored.map((entry) => (ids.includes(entry.notice.id) ? { ...entry, isSeen: true } : entry)),
  );

export const markResetNoticesSeen = (store: LocalStore): Promise<void> =>
  updateStoredNotices(store, (stored) =>
    stored.map((entry) => (entry.notice.event === "reset_started" ? { ...entry, isSeen: true } : entry)),
  );
