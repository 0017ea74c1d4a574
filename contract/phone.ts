import * as v from "valibot";
import { phoneMaxDigits, phoneMinDigits } from "./limits/phone-numbers.ts";

/** Removes separators from a typed number: spaces, dots, dashes and brackets. */
const stripSeparators = (phone: string): string => phone.normalize("NFKC").replace(/[\s().\-/]/g, "");

/** Country codes with one or two digits (ITU-T E.164); all others have three. */
const countryCodePattern = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** Country code of a stored number. */
export const countryCodeOf = (phone: string): string => countryCodePattern.exec(phone)?.[1] ?? "";

/**
 * Countries that dial a trunk 0 before national numbers and omit it in international ones (ITU-T E.123, national
 * numbering plans). Excluded are countries whose numbers keep their 0, such as Congo-Brazzaville (242), Côte d'Ivoire
 * (225), Benin (229), Gabon (241) and Italy (39), and those without a trunk 0.
 */
const trunkZeroCodes = new Set(
  (
    "20 27 31 32 33 40 41 43 44 46 49 55 60 61 62 63 64 66 81 82 84 86 90 91 92 94 95 98 211 212 213 218 231 232 233 234 " +
    "243 249 250 251 254 255 256 260 261 262 263 264 265 291 353 355 358 359 380 381 382 385 386 387 389 421 590 594 " +
    "596 880 961 962 963 964 966 967 970 971 972 977"
  ).split(" "),
);

const isPhone = (phone: string): boolean =>
  new RegExp(`^\\+[1-9][0-9]{${phoneMinDigits - 1},${phoneMaxDigits - 1}}$`).test(phone);

/** Removes the trunk 0: +243 0 81… becomes +243 81…. */
const withoutTrunkZero = (phone: string): string => {
  const code = countryCodeOf(phone);
  const national = phone.slice(1 + code.length);
  const shorter = `+${code}${national.slice(1)}`;
  return trunkZeroCodes.has(code) && national.startsWith("0") && isPhone(shorter) ? shorter : phone;
};

/** Adds the trunk 0, as in accounts created before numbers had one stored form. */
const withTrunkZero = (phone: string): string | undefined => {
  const code = countryCodeOf(phone);
  const longer = `+${code}0${phone.slice(1 + code.length)}`;
  return trunkZeroCodes.has(code) && isPhone(longer) ? longer : undefined;
};

/** Number with a plus sign and the digits as typed. Undefined if it cannot be a number. */
const toTyped = (phone: string): string | undefined => {
  const typed = `+${stripSeparators(phone).replace(/^\+/, "").replace(/^00/, "")}`;
  return isPhone(typed) ? typed : undefined;
};

/**
 * Stored form of a number: E.164 with a plus sign (SPEC.md §5 adds it if missing) and without a trunk 0. Undefined if
 * it cannot be a number.
 */
export const toE164 = (phone: string): string | undefined => {
  const typed = toTyped(phone);
  return typed && withoutTrunkZero(typed);
};

/** Forms in which an account may hold a number: as given, the stored form, and with a trunk 0. */
export const phoneForms = (phone: string): string[] => {
  const stored = withoutTrunkZero(phone);
  return [...new Set([phone, stored, withTrunkZero(stored) ?? stored])];
};

const createPhoneSchema = (read: (phone: string) => string | undefined) =>
  v.pipe(
    v.string(),
    v.maxLength(40),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const phone = read(dataset.value);
      if (phone !== undefined) return phone;
      addIssue({ message: "must be a phone number with its country code" });
      return NEVER;
    }),
  );

/** Number to be stored. */
export const Phone = createPhoneSchema(toE164);
/** Number to look up, in any form: see `phoneForms`. */
export const TypedPhone = createPhoneSchema(toTyped);

/**
 * Masked number with the country code and the last two digits, enough to recognize a known number. The length of the
 * number is hidden.
 */
export const maskToLastDigits = (phone: string): string => `+${countryCodeOf(phone)} •• ••• •• ${phone.slice(-2)}`;
/** Masked number with its country code only, for people who could guess the missing digits from the last ones. */
export const maskToCountryCode = (phone: string): string => `+${countryCodeOf(phone)} •• ••• •• ••`;

/** Parsed phone search: complete numbers, likeliest first, and digits that numbers begin with or contain. */
export type PhoneQuery = { wholes: string[]; beginnings: string[]; parts: string[] };

/**
 * Interpretations of typed digits for a searcher with the number `own`: as they are, with 00 for a plus sign, with a
 * trunk 0, or as a national number without its trunk 0. All of them are searched, so that an accidental match does not
 * hide another account.
 */
export const parsePhoneQuery = (digits: string, own: string, minDigits: number): PhoneQuery => {
  const national = digits.replace(/^0+/, "");
  const isHome = /^0[^0]/.test(digits);
  const typed = isHome ? `+${countryCodeOf(own)}${national}` : `+${digits.startsWith("00") ? national : digits}`;
  const stored = withoutTrunkZero(typed);
  const atHome = `+${countryCodeOf(own)}${digits}`;
  const isWithoutZero = !digits.startsWith("0") && isPhone(atHome);
  const longEnough = (part: string) => part.length >= minDigits;
  return {
    wholes: [...new Set([...(isPhone(typed) ? phoneForms(typed) : []), ...(isWithoutZero ? phoneForms(atHome) : [])])],
    beginnings: [...new Set([typed, stored])].filter((part) => longEnough(part.slice(1))),
    parts: [...new Set([digits, digits.startsWith("0") ? national : stored.slice(1)])].filter(longEnough),
  };
};
