import * as v from "valibot";
import { phoneMaxDigits, phoneMinDigits } from "./limits/phone-numbers.ts";
import { toAsciiDigits } from "./text.ts";

/** Characters between the digits of a number: spaces, direction marks, dashes, brackets, dots and slashes. */
const separators = /[\s\p{Cf}\p{Pd}\u2212()[\].·/]/gu;

/**
 * Typed or pasted number as a plus sign and ASCII digits: without the scheme of a `tel:` link (RFC 3966) and without
 * separators, in digits of any script. Characters that belong to no number stay.
 */
export const cleanPhone = (typed: string): string =>
  toAsciiDigits(typed.normalize("NFKC"))
    .replace(separators, "")
    .replace(/^tel:([^;]*).*/i, "$1");

/** Country codes with one or two digits (ITU-T E.164); all others have three. */
const countryCodePattern = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** Country code of a stored number. */
export const countryCodeOf = (phone: string): string => countryCodePattern.exec(phone)?.[1] ?? "";

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

/** Digits of a phone search: any part of a number with its zeros. */
export const toPhoneQuery = (query: string): string => cleanPhone(query).replace(/\D/g, "");

/** Digits of the groups of national numbers, by country code; other numbers are grouped by their length. */
const groups: Readonly<Record<string, string>> = {
  ...{ 31: "12222", 33: "12222", 212: "12222", 237: "12222", 225: "22222", 229: "22222" },
  ...{ 32: "3222", 238: "322", 262: "3222", 590: "3222", 594: "3222", 596: "3222" },
  ...{ 41: "2322", 221: "2322", 261: "2232", 27: "234", 242: "234", 258: "234", 971: "234" },
  ...{ 44: "433", 55: "254", 86: "344", 91: "55" },
};

/**
 * Stored number as it is shown: "+243 810 000 001". The groups are those in which a country's people write their mobile
 * numbers; elsewhere eight digits stand in pairs, others in threes with two to four at the end. Any other text is
 * returned as it is.
 */
export const formatPhone = (phone: string): string => {
  if (!/^\+\d+$/.test(phone)) return phone;
  const code = countryCodeOf(phone);
  const national = phone.slice(1 + code.length);
  const sizes = groups[code] ?? "";
  const pattern = sizes.replace(/\d/g, "(\\d{$&})");
  const parts = sizes && new RegExp(`^${pattern}$`).exec(national)?.slice(1);
  const rest = national.length === 8 ? /\d\d/g : /\d{3,4}$|\d{3}(?=\d{2})|\d+/g;
  return [`+${code}`, ...(parts || (national.match(rest) ?? []))].join(" ");
};

/**
 * Masked number with the country code and the last two digits, enough to recognize a known number. The length of the
 * number is hidden.
 */
export const maskToLastDigits = (phone: string): string => `+${countryCodeOf(phone)} •• ••• •• ${phone.slice(-2)}`;
/** Masked number with its country code only, for people who could guess the missing digits from the last ones. */
export const maskToCountryCode = (phone: string): string => `+${countryCodeOf(phone)} •• ••• •• ••`;

/** Whether a number is masked. */
export const isMaskedPhone = (phone: string): boolean => phone.includes("•");

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
