import type { Translate } from "#i18n/setup.ts";
import { renderChatView } from "./chat-view.ts";
import { renderListView } from "./list-view.ts";
import { type Markup, markup } from "./markup.ts";
import type { FirstViewData } from "./view-data.ts";

/** Largest parts of a screen that are drawn: more rows than a large phone shows. */
export const drawnCounts = { rows: 14, messages: 14, thumbs: 2 } as const;

/** Markup of a first view in the current language. */
export const renderFirstView = (view: FirstViewData, t: Translate): Markup =>
  markup`<div class="flex h-full flex-col overflow-hidden bg-bg text-text">${
    view.type === "list" ? renderListView(view, t) : renderChatView(view, t)
  }</div>`;

/**
 * Converts a time so that code in UTC formats it as the wall clock of a time zone shows it. An unknown zone is UTC.
 */
export const toWallClock = (at: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
    hourCycle: "h23",
  }).formatToParts(at);
  const get = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value);
  return (
    Date.UTC(get("year"), get("month") - 1, get("day"), get("hour"), get("minute"), get("second")) +
    (((at % 1_000) + 1_000) % 1_000)
  );
};
