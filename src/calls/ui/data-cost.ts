import type { CallKind } from "#contract/calls/call.ts";
import type { Language } from "#contract/language.ts";
import { getLanguage } from "#i18n/current-language.ts";
import { locales } from "#i18n/locales.ts";

/** Measured bytes of a minute of a call in both directions: Opus at 24 kbit/s, and with it video at 320×240. */
export const bytesPerMinute: Record<CallKind, number> = { audio: 300_000, video: 2_800_000 };

/** Data use below this is not shown: in tenths of a megabyte it is about nothing. */
export const dataUseMinBytes = 50_000;

const formatters = new Map<string, Intl.NumberFormat>();

const getFormatter = (unit: string, language: Language): Intl.NumberFormat => {
  const key = `${language} ${unit}`;
  const formatter =
    formatters.get(key) ??
    new Intl.NumberFormat(locales[language], {
      style: "unit",
      unit,
      unitDisplay: "short",
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    });
  formatters.set(key, formatter);
  return formatter;
};

/** Number and unit stay on one line; some languages format them with a breaking space. */
const formatUnit = (unit: string, bytes: number, language: Language): string =>
  getFormatter(unit, language)
    .format(bytes / 1_000_000)
    .replaceAll(" ", "\u00a0");

/** Megabytes with one decimal, the unit data is sold in: 0,3 Mo. */
export const formatMegabytes = (bytes: number, language = getLanguage()): string =>
  formatUnit("megabyte", bytes, language);

/** Short data rate of a call kind: 0,3 Mo/min. */
export const formatDataRate = (kind: CallKind, language = getLanguage()): string =>
  formatUnit("megabyte-per-minute", bytesPerMinute[kind], language);
