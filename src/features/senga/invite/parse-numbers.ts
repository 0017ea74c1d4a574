import { phoneMaxDigits, phoneMinDigits } from "#contract/limits.ts";
import { toPhoneQuery } from "#contract/people.ts";

type ParsedNumbers = {
  /** Different numbers as typed, in their order. */
  numbers: string[];
  /** Lines that are no numbers; they count from 1. */
  badLines: { line: number; text: string }[];
};

const internationalPrefixDigits = 3; // "00" and a trunk 0

const isNumber = (text: string): boolean => {
  const { length } = toPhoneQuery(text);
  const isWritten = /^\+?[\d\s().\-–/]+$/.test(text.normalize("NFKC"));
  return isWritten && length >= phoneMinDigits && length <= phoneMaxDigits + internationalPrefixDigits;
};

/** Reads numbers that were typed or pasted, one per line. */
export const parseNumbers = (typed: string): ParsedNumbers => {
  const numbers = new Map<string, string>();
  const badLines: ParsedNumbers["badLines"] = [];
  for (const [index, content] of typed.split(/\r\n|[\r\n]/).entries()) {
    const text = content.replace(/[,;]\s*$/, "").trim();
    if (text === "") continue;
    const digits = toPhoneQuery(text);
    if (isNumber(text)) numbers.set(digits, numbers.get(digits) ?? text);
    else badLines.push({ line: index + 1, text });
  }
  return { numbers: [...numbers.values()], badLines };
};
