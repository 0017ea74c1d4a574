import * as v from "valibot";
import { phoneMaxDigits, phoneMinDigits } from "#contract/limits/phone-numbers.ts";
import { cleanPhone, countryCodeOf } from "./phone-text.ts";

const isPhone = (phone: string): boolean =>
  new RegExp(`^\\+[1-9][0-9]{${phoneMinDigits - 1},${phoneMaxDigits - 1}}$`).test(phone);

/**
 * Countries whose national numbers begin with a 0 that international ones keep, with the digits that follow it (national
 * numbering plans published by ITU): Côte d'Ivoire and Benin have ten digits, Congo-Brazzaville nine.
 */
const digitsAfterZero: Readonly<Record<string, number>> = { 225: 9, 229: 9, 242: 8 };

/**
 * National number in its one form. A 0 in front is a trunk prefix, which is omitted, except in the countries above and
 * in Italy: there landlines begin with 0 and mobile numbers (3, ten digits or nine) do not. The numbers of Benin got
 * the prefix 01 in 2024.
 */
const toNational = (code: string, digits: string): string => {
  const rest = digits.replace(/^0+/, "");
  if (code === "39") return rest.startsWith("3") && (rest === digits || rest.length === 10) ? rest : `0${rest}`;
  if (code === "229" && rest.length === 8) return `01${rest}`;
  return rest.length === digitsAfterZero[code] ? `0${rest}` : rest;
};

/** Number with a plus sign, in its one form. */
const toStored = (phone: string): string => {
  const code = countryCodeOf(phone);
  return `+${code}${toNational(code, phone.slice(1 + code.length))}`;
};

/**
 * Stored form of a typed or pasted number: E.164 with a plus sign (SPEC.md §5 adds it if missing), the same with and
 * without a national 0. Undefined if it cannot be a number.
 */
export const toE164 = (typed: string): string | undefined => {
  const phone = toStored(`+${cleanPhone(typed).replace(/^\+/, "").replace(/^00/, "")}`);
  return isPhone(phone) ? phone : undefined;
};

/** Number as typed by its owner, another person or a program, in its stored form. */
export const Phone = v.pipe(
  v.string(),
  v.maxLength(40),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const phone = toE164(dataset.value);
    if (phone !== undefined) return phone;
    addIssue({ message: "must be a phone number with its country code" });
    return NEVER;
  }),
);

/** Parsed phone search: complete numbers, likeliest first, and digits that numbers begin with or contain. */
export type PhoneQuery = { wholes: string[]; beginnings: string[]; parts: string[] };

/**
 * Interpretations of typed digits for a searcher with the number `own`: with the country code, after 00 too, or as a
 * national number with or without its 0. All of them are searched, so that an accidental match does not hide another
 * account.
 */
export const parsePhoneQuery = (digits: string, own: string, minDigits: number): PhoneQuery => {
  const withoutZeros = digits.replace(/^0+/, "");
  const home = `+${countryCodeOf(own)}`;
  const typed = /^0[^0]/.test(digits) ? home + digits : `+${digits.startsWith("00") ? withoutZeros : digits}`;
  const code = countryCodeOf(typed);
  const isZeroKept = code === "39" || code in digitsAfterZero;
  // A part of a number: its length does not tell whether a 0 is missing, and zeros alone may be its own.
  const beginning = isZeroKept ? typed : `+${code}${typed.slice(1 + code.length).replace(/^0(?=[1-9])/, "")}`;
  const longEnough = (part: string) => part.length >= minDigits;
  const wholes = [typed, digits.startsWith("0") ? "" : home + digits].map(toStored).filter(isPhone);
  return {
    wholes: [...new Set(wholes)],
    beginnings: [beginning].filter((part) => longEnough(part.slice(1))),
    parts: [...new Set([digits, digits.startsWith("0") ? withoutZeros : beginning.slice(1)])].filter(longEnough),
  };
};
