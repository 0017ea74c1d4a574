import { toAsciiDigits } from "#contract/text.ts";

/** Phone numbers as people write and read them (docs/decisions/phone-forms.md). */

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

/** Digits of a phone search: any part of a number with its zeros. */
export const toPhoneQuery = (query: string): string => cleanPhone(query).replace(/\D/g, "");

/** Country codes with one or two digits (ITU-T E.164); all others have three. */
const countryCodePattern = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** Country code of a stored number. */
export const countryCodeOf = (phone: string): string => countryCodePattern.exec(phone)?.[1] ?? "";

/** Digits of the groups of national numbers, by country code; other numbers are grouped by their length. */
const groups: Readonly<Record<string, string>> = {
  ...{ 33: "12222", 212: "12222", 237: "12222", 225: "22222", 229: "22222", 27: "234", 242: "234", 258: "234" },
  ...{ 32: "3222", 41: "2322", 221: "2322", 261: "2232", 44: "433", 55: "254" },
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
