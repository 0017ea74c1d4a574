import { setClockSkew } from "#lib/browser/time/clock.ts";
import type { LocalStore } from "./database.ts";

/**
 * Progress of this device in the numbered changes of its person's inbox. `counter` is the newest change known; missing
 * ranges below it are listed in `gaps` until they are fetched. The cursor is written in the same transaction as the
 * data and so never runs ahead of it.
 */
export type SyncCursor = {
  epoch: string;
  counter: number;
  gaps: CursorGap[];
  /** The server's clock minus this device's, milliseconds. */
  skew: number;
};
/** Missing changes: after `since` and before `before`, both exclusive; null means up to now. */
export type CursorGap = { since: number; before: number | null };

const emptyCursor: SyncCursor = { epoch: "", counter: 0, gaps: [], skew: 0 };

type CatchUpAnswer = { epoch: string; counter: number; now: number; before: number | null };

/** Rest of a gap whose changes after `since` were fetched, up to those before `before`. */
export const toRemainingGap = (since: number, before: number | null): CursorGap[] =>
  before === null ? [] : [{ since, before }];

/**
 * Cursor after a welcome frame, or its HTTP equivalent, that answered "what changed after `since`". Gaps of another
 * epoch are discarded.
 */
export const applyCatchUp = (cursor: SyncCursor, since: number, answer: CatchUpAnswer, now: number): SyncCursor => {
  const isSameEpoch = answer.epoch === cursor.epoch;
  return {
    epoch: answer.epoch,
    counter: answer.counter,
    gaps: [...(isSameEpoch ? cursor.gaps : []), ...toRemainingGap(isSameEpoch ? since : 0, answer.before)],
    skew: answer.now - now,
  };
};

/** Adds a gap from `since` up to now, merged with an existing open-ended gap. */
export const addGap = (cursor: SyncCursor, since: number): SyncCursor => {
  const open = cursor.gaps.filter((gap) => gap.before === null);
  const closed = cursor.gaps.filter((gap) => gap.before !== null);
  return { ...cursor, gaps: [...closed, { since: Math.min(since, ...open.map((gap) => gap.since)), before: null }] };
};

/** Whether all changes of the server are stored, so that missing data means that there is none. */
export const isCaughtUp = ({ epoch, gaps }: SyncCursor): boolean => epoch !== "" && gaps.length === 0;

/** Whether the data of this change, or newer data, is stored. */
export const isChangeStored = ({ counter, gaps }: SyncCursor, change: number): boolean =>
  change <= counter && !gaps.some(({ since, before }) => change > since && (before === null || change < before));

/** Key of the cursor in `meta`. */
export const cursorKey = "cursor";

/** Cursor as stores on devices hold it: its gaps are named `holes`. */
type StoredCursor = Omit<SyncCursor, "gaps"> & { holes: CursorGap[] };

/** Reads the cursor and sets the clock skew of the tab and of the store from it. */
export const readSyncCursor = async (store: LocalStore): Promise<SyncCursor> => {
  const stored = (await store.meta.get(cursorKey))?.value as StoredCursor | undefined;
  if (!stored) return emptyCursor;
  const { holes: gaps, ...cursor } = stored;
  setClockSkew(cursor.skew);
  store.skew = cursor.skew;
  return { ...cursor, gaps };
};

export const writeSyncCursor = async (store: LocalStore, { gaps, ...cursor }: SyncCursor): Promise<void> => {
  store.skew = cursor.skew;
  const value: StoredCursor = { ...cursor, holes: gaps };
  await store.meta.put({ key: cursorKey, value });
};
