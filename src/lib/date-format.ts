/**
 * Times and days as people read them. SPEC.md §9 writes them in fr-FR; the other languages follow the same
 * shapes (24 hours, day before month) with their own words.
 */
const localeOf: Record<string, string> = { fr: "fr-FR", en: "en-GB", pt: "pt-PT" };

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Making a formatter costs more than using it a thousand times. */
const formatter = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = language + JSON.stringify(options);
  const known = formatters.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(localeOf[language] ?? localeOf["fr"], options);
  formatters.set(key, made);
  return made;
};

export const isSameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString();

/** How many midnights lie between two moments. */
const daysBetween = (from: number, to: number): number => {
  const [start, end] = [new Date(from).setHours(0, 0, 0, 0), new Date(to).setHours(0, 0, 0, 0)];
  return Math.round((end - start) / 86_400_000);
};

/** 09:41 */
export const formatTime = (at: number, language: string): string =>
  formatter(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);

/** The time today, the date before: 09:41, 12/11/2026. */
export const formatTimeOrDate = (at: number, language: string, now: number = Date.now()): string =>
  isSameDay(at, now)
    ? formatTime(at, language)
    : formatter(language, { day: "2-digit", month: "2-digit", year: "2-digit" }).format(at);

/** Aujourd’hui, Hier, Lundi 16 novembre, 31 décembre 2025: the heading of a day of messages. */
export const formatDay = (at: number, language: string, now: number = Date.now()): string => {
  const locale = localeOf[language] ?? localeOf["fr"];
  const ago = daysBetween(at, now);
  const day =
    ago === 0 || ago === 1
      ? new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(-ago, "day")
      : formatter(
          language,
          ago > 0 && ago < 180
            ? { weekday: "long", day: "numeric", month: "long" }
            : { day: "numeric", month: "long", year: "numeric" },
        ).format(at);
  return day.charAt(0).toLocaleUpperCase(locale) + day.slice(1);
};
