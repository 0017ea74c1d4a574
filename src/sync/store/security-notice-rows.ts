import { isResetUnderWay, type SecurityNotice } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits.ts";
import type { LocalStore } from "./database.ts";

/** Security notices received on this device, newest last. Seen ones are kept because the server may send them again. */
type StoredNotice = { notice: SecurityNotice; isSeen: boolean };

const noticesKey = "security-notices";

const readStoredNotices = async (store: LocalStore): Promise<StoredNotice[]> =>
  ((await store.meta.get(noticesKey))?.value as StoredNotice[] | undefined) ?? [];

const updateStoredNotices = (store: LocalStore, change: (told: StoredNotice[]) => StoredNotice[]): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    await store.meta.put({ key: noticesKey, value: change(await readStoredNotices(store)) });
  });

export const insertSecurityNotice = (store: LocalStore, notice: SecurityNotice): Promise<void> =>
  updateStoredNotices(store, (told) =>
    told.some((one) => one.notice.id === notice.id)
      ? told
      : [...told, { notice, isSeen: false }].slice(-securityNoticesMax),
  );

/** Notices that were not dismissed, newest last. A started reset is listed only while it can be cancelled. */
export const listUnseenNotices = async (store: LocalStore, now: number): Promise<SecurityNotice[]> => {
  const told = await readStoredNotices(store);
  const all = told.map(({ notice }) => notice);
  const isOpen = (notice: SecurityNotice) => notice.event !== "reset_started" || isResetUnderWay(notice, all, now);
  return told.flatMap(({ notice, isSeen }) => (isSeen || !isOpen(notice) ? [] : [notice]));
};

export const markNoticesSeen = (store: LocalStore, ids: readonly Uuid[]): Promise<void> =>
  updateStoredNotices(store, (told) =>
    told.map((one) => (ids.includes(one.notice.id) ? { ...one, isSeen: true } : one)),
  );

export const markResetNoticesSeen = (store: LocalStore): Promise<void> =>
  updateStoredNotices(store, (told) =>
    told.map((one) => (one.notice.event === "reset_started" ? { ...one, isSeen: true } : one)),
  );
