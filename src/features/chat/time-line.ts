import { isSameDay } from "../../i18n/relative-date";
import type { ChatItem } from "../../sync/hooks";

const groupGapMs = 5 * 60_000;

export type Placement = {
  /** The newest of its day: the heading of the next day stands below it. */
  endsDay: boolean;
  /** The last of a run of one person's messages close in time. */
  endsGroup: boolean;
};

const isRun = (a: ChatItem, b: ChatItem): boolean =>
  a.mine === b.mine && (a.mine || a.sender === b.sender) && Math.abs(b.at - a.at) < groupGapMs && isSameDay(a.at, b.at);

/**
 * How a message stands to the newer one below it. What separates them belongs to the older of the two, so that
 * a page of older messages changes nothing of what is already shown.
 */
export const placementOf = (item: ChatItem, newer: ChatItem | undefined): Placement => ({
  endsDay: newer !== undefined && !isSameDay(item.at, newer.at),
  endsGroup: !newer || !isRun(item, newer),
});

const linePx = 22.4;
const letterPx = 8; // rather too wide than too narrow
const aroundTextPx = 16;
const bubbleMaxPx = 544;
const timePx = 72; // the time and the ticks share the last line
const dayHeadingPx = 42;

/** About how high a message will be in a list this wide: the better it is, the less moves when it is drawn. */
export const estimateHeight = (item: ChatItem, { endsDay, endsGroup }: Placement, listPx: number): number => {
  const text = item.body.type === "text" ? item.body.text : "";
  const widthPx = Math.max(letterPx, Math.min(listPx * 0.85, bubbleMaxPx) - 2 * 12);
  let lines = 0;
  let lastPx = 0;
  for (const line of text.split("\n")) {
    const px = line.length * letterPx;
    lines += Math.max(1, Math.ceil(px / widthPx));
    lastPx = px % widthPx;
  }
  if (lastPx + timePx > widthPx) lines++;
  // Whole pixels, as the list measures.
  return Math.round(lines * linePx + aroundTextPx + (endsGroup ? 8 : 2) + (endsDay ? dayHeadingPx : 0));
};
