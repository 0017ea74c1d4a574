import { isResetUnderWay, type SecurityNotice } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits.ts";
import type { Store } from "./database.ts";

/** What this phone was told of the account, the newest last. What was looked at is kept too, for it may be told again. */
type Told = { notice: SecurityNotice; isSeen: boolean };

const noticesKey = "security-notices";

const readTold = async (store: Store): Promise<Told[]> =>
  ((await store.meta.get(noticesKey))?.value as Told[] | undefined) ?? [];

const update = (store: Store, change: (told: Told[]) => Told[]): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    await store.meta.put({ key: noticesKey, value: change(await readTold(store)) });
  });

export const keepNotice = (store: Store, notice: SecurityNotice): Promise<void> =>
  update(store, (told) =>
    told.some((one) => one.notice.id === notice.id)
      ? told
      : [...told, { notice, isSeen: false }].slice(-securityNoticesMax),
  );

/** What their person has not put away, the newest last; a reset only while it can be stopped. */
export const readUnseen = async (store: Store, now: number): Promise<SecurityNotice[]> => {
  const told = await readTold(store);
  const all = told.map(({ notice }) => notice);
  const isOpen = (notice: SecurityNotice) => notice.event !== "reset_started" || isResetUnderWay(notice, all, now);
  return told.flatMap(({ notice, isSeen }) => (isSeen || !isOpen(notice) ? [] : [notice]));
};

export const putAway = (store: Store, ids: readonly Uuid[]): Promise<void> =>
  update(store, (told) => told.map((one) => (ids.includes(one.notice.id) ? { ...one, isSeen: true } : one)));

export const putAwayResets = (store: Store): Promise<void> =>
  update(store, (told) => told.map((one) => (one.notice.event === "reset_started" ? { ...one, isSeen: true } : one)));
