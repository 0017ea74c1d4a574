import type { CallKind } from "#contract/calls/call.ts";
import type { Language } from "#contract/language.ts";
import { locales } from "#i18n/locales.ts";
import { getLanguage } from "#i18n/setup.ts";

/** What a minute of a call takes, both ways together, as measured: Opus at 24 kbit/s, and with it video at 320×240. */
export const bytesPerMinute: Record<CallKind, number> = { audio: 300_000, video: 2_800_000 };

/** Less than this is told of no call: in tenths of a megabyte it is nothing. */
export const dataUseMinBytes = 50_000;

/** Number and unit stand on one line; not every language's format says so. */
const formatUnit = (unit: string, bytes: number, language: Language): string =>
  new Intl.NumberFormat(locales[language], {
    style: "unit",
    unit,
    unitDisplay: "short",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
    .format(bytes / 1_000_000)
    .replaceAll(" ", "\u00a0");

/** In the unit data is sold by, to a tenth: 0,3 Mo. */
export const formatMegabytes = (bytes: number, language = getLanguage()): string =>
  formatUnit("megabyte", bytes, language);

/** The price of a kind of call where there is little room: 0,3 Mo/min. */
export const formatDataRate = (kind: CallKind, language = getLanguage()): string =>
  formatUnit("megabyte-per-minute", bytesPerMinute[kind], language);
