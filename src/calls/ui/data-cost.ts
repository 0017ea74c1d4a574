import type { CallKind } from "#contract/calls/call.ts";
import type { Language } from "#contract/language.ts";
import { getLanguage } from "#i18n/current-language.ts";

/** Measured bytes of a minute of a call in both directions: Opus at 24 kbit/s, and with it video at 320×240. */
export const bytesPerMinute: Record<CallKind, number> = { audio: 300_000, video: 2_800_000 };

/** Data use below this is not shown: in tenths of a megabyte it is about nothing. */
export const dataUseMinBytes = 50_000;

/** Names of the units; `Intl.NumberFormat` takes 30 ms on a slow phone, and every chat shows what a call costs. */
const units: Record<Language, { megabyte: string; decimalMark: string }> = {
  fr: { megabyte: "Mo", decimalMark: "," },
  en: { megabyte: "MB", decimalMark: "." },
  pt: { megabyte: "MB", decimalMark: "," },
};

/** Megabytes with one decimal, the unit data is sold in, on one line: 0,3 Mo. */
export const formatMegabytes = (bytes: number, language = getLanguage()): string => {
  const { megabyte, decimalMark } = units[language];
  return `${(bytes / 1_000_000).toFixed(1).replace(".", decimalMark)}\u00a0${megabyte}`;
};

/** Short data rate of a call kind: 0,3 Mo/min. */
export const formatDataRate = (kind: CallKind, language = getLanguage()): string =>
  `${formatMegabytes(bytesPerMinute[kind], language)}/min`;
