import type { Language } from "#contract/language.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { getLanguage } from "./current-language.ts";
import { formatDate, formatDay, formatTime } from "./format.ts";
import { locales } from "./locales.ts";

const weekdayDays = 180; // beyond half a year "Monday 3 June" is ambiguous

const toMidnight = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

/** Number of midnights between two times; rounded because some days have 23 or 25 hours. */
const countDaysBetween = (from: number, to: number): number => Math.round((toMidnight(to) - toMidnight(from)) / dayMs);

export const isSameDay = (a: number, b: number): boolean => toMidnight(a) === toMidnight(b);

const shortDates = new Map<Language, Intl.DateTimeFormat>();
const formatShortDate = (at: number, language: Language): string => {
  const formatter =
    shortDates.get(language) ??
    new Intl.DateTimeFormat(locales[language], { day: "2-digit", month: "2-digit", year: "2-digit" });
  shortDates.set(language, formatter);
  return formatter.format(at);
};

/** Time for today, short date for other days: 09:41, 12/11/26. */
export const formatTimeOrDate = (at: number, language = getLanguage(), now: number = getServerNow()): string =>
  isSameDay(at, now) ? formatTime(at, language) : formatShortDate(at, language);

/** Heading of a day of messages: Aujourd’hui, Hier, Lundi 16 novembre, 31 déc. 2025. */
export const formatDayHeading = (at: number, language = getLanguage(), now: number = getServerNow()): string => {
  const daysAgo = countDaysBetween(at, now);
  const heading =
    daysAgo === 0 || daysAgo === 1
      ? new Intl.RelativeTimeFormat(locales[language], { numeric: "auto" }).format(-daysAgo, "day")
      : daysAgo > 0 && daysAgo < weekdayDays
        ? formatDay(at, language)
        : formatDate(at, language);
  return heading.charAt(0).toLocaleUpperCase(locales[language]) + heading.slice(1);
};
