import type { Language } from "#contract/language.ts";
import { minuteMs, secondMs } from "#contract/limits/durations.ts";
import { getLanguage } from "./current-language.ts";
import { locales } from "./locales.ts";

type Formatter = { format(at: number): string };

/**
 * Formats a date with the short name of its month. If the language's own pattern has a numeric month, the month's short
 * name replaces it.
 */
const createDateFormatter = (locale: string, parts: Intl.DateTimeFormatOptions & { month: "short" }): Formatter => {
  const formatter = new Intl.DateTimeFormat(locale, parts);
  if (/\p{L}/u.test(formatter.format(0))) return formatter;
  const month = new Intl.DateTimeFormat(locale, { month: parts.month });
  return {
    format: (at) =>
      formatter
        .formatToParts(at)
        .map(({ type, value }) => (type === "month" ? month.format(at) : type === "literal" ? " " : value))
        .join(""),
  };
};

/**
 * Keeps one formatter for each language, created when it is first used: that takes some 20 ms on a slow phone, and
 * lists use a formatter for every row.
 */
const cacheFormatter = (create: (locale: string) => Formatter): ((language: Language) => Formatter) => {
  const cache = new Map<Language, Formatter>();
  return (language) => {
    const formatter = cache.get(language) ?? create(locales[language]);
    cache.set(language, formatter);
    return formatter;
  };
};

const getTimeFormatter = cacheFormatter(
  (locale) => new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }),
);
const getDateFormatter = cacheFormatter((locale) =>
  createDateFormatter(locale, { day: "2-digit", month: "short", year: "numeric" }),
);
const getShortDayFormatter = cacheFormatter((locale) =>
  createDateFormatter(locale, { day: "numeric", month: "short" }),
);
const getDayFormatter = cacheFormatter(
  (locale) => new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" }),
);

/** Hour and minute of a time in epoch milliseconds: 14:05. */
export const formatTime = (at: number, language = getLanguage()): string => getTimeFormatter(language).format(at);

/** Creates the formatter of times ahead of the first screen: the first one of a page takes 60 ms on a slow phone. */
export const prepareTimeFormat = (language: Language): void => void getTimeFormatter(language);

/** Two-digit day, short month, year: 05 nov. 2026. */
export const formatDate = (at: number, language = getLanguage()): string => getDateFormatter(language).format(at);

/** Day and short month: 5 nov. */
export const formatShortDay = (at: number, language = getLanguage()): string => {
  const text = getShortDayFormatter(language).format(at);
  return language === "fr" ? text.replace(/^1\b/, "1er") : text;
};

/** Weekday, day and month, for the separators of a chat: jeudi 5 novembre. */
export const formatDay = (at: number, language = getLanguage()): string => getDayFormatter(language).format(at);

/** Formats a duration in milliseconds: 0:12, 61:05. With `padded` like a running clock: 00:12. */
export const formatDuration = (ms: number, padded = false): string => {
  const minutes = String(Math.floor(ms / minuteMs)).padStart(padded ? 2 : 1, "0");
  return `${minutes}:${String(Math.floor((ms % minuteMs) / secondMs)).padStart(2, "0")}`;
};

const listFormatters = new Map<Language, Intl.ListFormat>();

/** Joins words into one sentence part: Ana, Ben et Carole. */
export const formatList = (words: readonly string[], language = getLanguage()): string => {
  const list = listFormatters.get(language) ?? new Intl.ListFormat(locales[language]);
  listFormatters.set(language, list);
  return list.format(words);
};
