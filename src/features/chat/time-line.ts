import { isSameDay } from "../../i18n/relative-date";
import type { ChatItem } from "../../sync/hooks";

const groupGapMs = 5 * 60_000;

export type Placement = {
  /** The first of its day: a heading stands above it. */
  startsDay: boolean;
  /** First and last of a run of one person's messages close in time. */
  startsGroup: boolean;
  endsGroup: boolean;
};

const isRun = (a: ChatItem, b: ChatItem): boolean =>
  a.mine === b.mine && (a.mine || a.sender === b.sender) && Math.abs(b.at - a.at) < groupGapMs && isSameDay(a.at, b.at);

/**
 * How a message stands among its neighbours. The oldest one loaded has no heading while older ones are to
 * come, for it would lose it again when they are here and everything below would jump.
 */
export const placementOf = (
  item: ChatItem,
  older: ChatItem | undefined,
  newer: ChatItem | undefined,
  hasOlder: boolean,
): Placement => ({
  startsDay: older ? !isSameDay(older.at, item.at) : !hasOlder,
  startsGroup: !older || !isRun(older, item),
  endsGroup: !newer || !isRun(item, newer),
});
