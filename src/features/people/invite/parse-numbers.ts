import { phoneMaxDigits, phoneMinDigits } from "#contract/limits/phone-numbers.ts";
import { cleanPhone, toPhoneQuery } from "#contract/phone/phone-text.ts";
import { toAsciiDigits } from "#contract/text.ts";

type ParsedNumbers = {
  /** Different numbers as typed, in their order. */
  numbers: string[];
  /** Lines, or parts of them, that are no numbers; lines count from 1. */
  badLines: { line: number; text: string }[];
};

const internationalPrefixDigits = 3; // "00" and a trunk 0

const isNumber = (text: string): boolean => {
  const { length } = toPhoneQuery(text);
  return (
    /^\+?\d+$/.test(cleanPhone(text)) &&
    length >= phoneMinDigits &&
    length <= phoneMaxDigits + internationalPrefixDigits
  );
};

/** A short number next to a complete one may belong to the name, as in "Tante 2 0815550202". */
const isAmbiguous = (text: string): boolean => /(?:^|\s)\d{1,2}\s+\d{9,}$|^\d{9,}\s+\d{1,2}$/.test(text);

/** Number with a name before or after it. Undefined unless it is certain which digits are the number. */
const findNamedNumber = (text: string): string | undefined => {
  const written = toAsciiDigits(text.normalize("NFKC"));
  const [number, ...others] = written.match(/\+?\(?\d(?:[\d\s().\p{Pd}\p{Cf}]*\d)?/gu) ?? [];
  const isCertain = number !== undefined && others.length === 0 && isNumber(number) && !isAmbiguous(number);
  return isCertain && /\p{L}/u.test(text) ? number : undefined;
};

/** Numbers of a line, and what else is in it apart from names. */
const readLine = (line: string): { numbers: string[]; rest: string[] } => {
  const parts = line
    .split(/[;,؛،/\t]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (parts.length > 1 && parts.every(isNumber)) return { numbers: parts, rest: [] };
  if (isNumber(line)) return { numbers: [line], rest: [] };
  const found = parts.map((part) => ({ part, number: isNumber(part) ? part : findNamedNumber(part) }));
  const numbers = found.flatMap(({ number }) => number ?? []);
  if (numbers.length === 0) return { numbers, rest: [line] };
  const rest = found.flatMap(({ part, number }) => (number === undefined && /\p{Nd}/u.test(part) ? part : []));
  return { numbers, rest };
};

/** Reads numbers that were typed or pasted: one per line, with or without a name, or several with separators. */
export const parseNumbers = (typed: string): ParsedNumbers => {
  const numbers = new Map<string, string>();
  const badLines: ParsedNumbers["badLines"] = [];
  for (const [index, content] of typed.split(/\r\n|[\r\n]/).entries()) {
    const text = content.replace(/[,;؛،]\s*$/, "").trim();
    if (text === "") continue;
    const line = readLine(text);
    for (const number of line.numbers) {
      const digits = toPhoneQuery(number);
      numbers.set(digits, numbers.get(digits) ?? number);
    }
    badLines.push(...line.rest.map((part) => ({ line: index + 1, text: part })));
  }
  return { numbers: [...numbers.values()], badLines };
};
