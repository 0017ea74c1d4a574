import type { Language } from "../../contract/language";
import { locales } from "./format";

const units = ["byte", "kilobyte", "megabyte"] as const;
const step = 1_024;

/** 512 octets, 45 Ko, 1,2 Mo: as phones show it, in the unit that leaves a short number. */
export const formatFileSize = (bytes: number, language: Language): string => {
  const power = bytes < step ? 0 : bytes < step * step * 0.9995 ? 1 : 2;
  const value = bytes / step ** power;
  const maximumFractionDigits = power === 2 && value < 10 ? 1 : 0;
  const unitDisplay = power === 0 ? "long" : "short";
  return new Intl.NumberFormat(locales[language], {
    style: "unit",
    unit: units[power] ?? "byte",
    unitDisplay,
    maximumFractionDigits,
  }).format(value);
};
