import type { Language } from "#contract/language.ts";
import { getLanguage } from "./current-language.ts";
import { locales } from "./locales.ts";

const byteUnits = ["byte", "kilobyte", "megabyte"] as const;
const byteFormatters = new Map<string, Intl.NumberFormat>();

const getByteFormatter = (language: Language, unit: (typeof byteUnits)[number]): Intl.NumberFormat => {
  const key = `${language} ${unit}`;
  const cached = byteFormatters.get(key);
  if (cached) return cached;
  const unitDisplay = unit === "byte" ? "long" : "short";
  const formatter = new Intl.NumberFormat(locales[language], {
    style: "unit",
    unit,
    unitDisplay,
    maximumFractionDigits: 1,
  });
  byteFormatters.set(key, formatter);
  return formatter;
};

/** Formats a size in decimal units, as data plans do: 820 octets, 43 ko, 1,2 Mo, 24 Mo. */
export const formatBytes = (bytes: number, language = getLanguage()): string => {
  let unitIndex = 0;
  let amount = bytes;
  for (; amount >= 999.5 && unitIndex < byteUnits.length - 1; unitIndex++) amount /= 1_000;
  if (bytes === 0) unitIndex = 1; // zero is shown in kilobytes, not in single bytes
  const isSmall = unitIndex === 2 && amount < 9.95;
  return getByteFormatter(language, byteUnits[unitIndex] ?? "byte").format(isSmall ? amount : Math.round(amount));
};
