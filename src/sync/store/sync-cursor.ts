import { setClockSkew } from "#lib/browser/clock.ts";
import type { LocalStore } from "./database.ts";

/**
 * How far this device has come in the changes of its person's inbox. `counter` is always the newest change
 * heard of; what was left out below it stands in `holes` until it is fetched. Both are kept in the same
 * transaction as the data, so that the cursor never runs ahead of it.
 */
export type SyncCursor = {
  epoch: string;
  counter: number;
  holes: CursorGap[];
  /** The server's clock minus this device's, milliseconds. */
  skew: number;
};
/** Changes after `since`, up to before `before`; null means up to now. */
export type CursorGap = { since: number; before: number | null };

const emptyCursor: SyncCursor = { epoch: "", counter: 0, holes: [], skew: 0 };

type CatchUpAnswer = { epoch: string; counter: number; now: number; before: number | null };

const toRemainingGap = (since: number, before: number | null): CursorGap[] =>
  before === null ? [] : [{ since, before }];

/** After a welcome, or its HTTP sibling, that answered "what changed since `since`". */
export const applyCatchUp = (cursor: SyncCursor, since: number, answer: CatchUpAnswer, clock: number): SyncCursor => {
  const known = answer.epoch === cursor.epoch;
  return {
    epoch: answer.epoch,
    counter: answer.counter,
    holes: [...(known ? cursor.holes : []), ...toRemainingGap(known ? since : 0, answer.before)],
    skew: answer.now - clock,
  };
};

/** Everything after `since` is to be asked for. */
export const addGap = (cursor: SyncCursor, since: number): SyncCursor => {
  const open = cursor.holes.filter((hole) => hole.before === null);
  const closed = cursor.holes.filter((hole) => hole.before !== null);
  return { ...cursor, holes: [...closed, { since: Math.min(since, ...open.map((hole) => hole.since)), before: null }] };
};

/** After a page of the answer to a hole, which follows `since`: what the hole asked about, or everything. */
export const shrinkGap = (
  cursor: SyncCursor,
  hole: CursorGap,
  before: number | null,
  since = hole.since,
): SyncCursor => {
  const isSame = (other: CursorGap) => other.since === hole.since && other.before === hole.before;
  return {
    ...cursor,
    holes: cursor.holes.flatMap((other) => (isSame(other) ? toRemainingGap(since, before) : [other])),
  };
};

/** All that the server had to tell has been taken in: of whom it has not spoken there was nothing to say. */
export const isCaughtUp = ({ epoch, holes }: SyncCursor): boolean => epoch !== "" && holes.length === 0;

const cursorKey = "cursor";

/** What is read here tells every tab how far off the device's clock is. */
export const readSyncCursor = async (store: LocalStore): Promise<SyncCursor> => {
  const cursor = (await store.meta.get(cursorKey))?.value as SyncCursor | undefined;
  if (cursor) setClockSkew(cursor.skew);
  return cursor ?? emptyCursor;
};

export const writeSyncCursor = async (store: LocalStore, cursor: SyncCursor): Promise<void> => {
  await store.meta.put({ key: cursorKey, value: cursor });
};
