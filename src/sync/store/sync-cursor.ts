import { setClockSkew } from "#lib/browser/clock.ts";
import type { Store } from "./database.ts";

/**
 * How far this device has come in the changes of its person's inbox. `counter` is always the newest change
 * heard of; what was left out below it stands in `holes` until it is fetched. Both are kept in the same
 * transaction as the data, so that the cursor never runs ahead of it.
 */
export type Cursor = {
  epoch: string;
  counter: number;
  holes: Hole[];
  /** The server's clock minus this device's, milliseconds. */
  skew: number;
};
/** Changes after `since`, up to before `before`; null means up to now. */
export type Hole = { since: number; before: number | null };

const emptyCursor: Cursor = { epoch: "", counter: 0, holes: [], skew: 0 };

type Answer = { epoch: string; counter: number; now: number; before: number | null };

const pageHole = (since: number, before: number | null): Hole[] => (before === null ? [] : [{ since, before }]);

/** After a welcome, or its HTTP sibling, that answered "what changed since `since`". */
export const afterCatchUp = (cursor: Cursor, since: number, answer: Answer, clock: number): Cursor => {
  const known = answer.epoch === cursor.epoch;
  return {
    epoch: answer.epoch,
    counter: answer.counter,
    holes: [...(known ? cursor.holes : []), ...pageHole(known ? since : 0, answer.before)],
    skew: answer.now - clock,
  };
};

/** Everything after `since` is to be asked for. */
export const withHole = (cursor: Cursor, since: number): Cursor => {
  const open = cursor.holes.filter((hole) => hole.before === null);
  const closed = cursor.holes.filter((hole) => hole.before !== null);
  return { ...cursor, holes: [...closed, { since: Math.min(since, ...open.map((hole) => hole.since)), before: null }] };
};

/** After a page of the answer to a hole, which follows `since`: what the hole asked about, or everything. */
export const afterHolePage = (cursor: Cursor, hole: Hole, before: number | null, since = hole.since): Cursor => {
  const isSame = (other: Hole) => other.since === hole.since && other.before === hole.before;
  return {
    ...cursor,
    holes: cursor.holes.flatMap((other) => (isSame(other) ? pageHole(since, before) : [other])),
  };
};

/** All that the server had to tell has been taken in: of whom it has not spoken there was nothing to say. */
export const isLevel = ({ epoch, holes }: Cursor): boolean => epoch !== "" && holes.length === 0;

const cursorKey = "cursor";

/** What is read here tells every tab how far off the device's clock is. */
export const readCursor = async (store: Store): Promise<Cursor> => {
  const cursor = (await store.meta.get(cursorKey))?.value as Cursor | undefined;
  if (cursor) setClockSkew(cursor.skew);
  return cursor ?? emptyCursor;
};

export const writeCursor = async (store: Store, cursor: Cursor): Promise<void> => {
  await store.meta.put({ key: cursorKey, value: cursor });
};
