import * as v from "valibot";
import { phoneMaxDigits, phoneMinDigits } from "./limits.ts";

/** Digits of a number as people write it: spaces, dots, dashes and brackets are theirs, 00 is a plus. */
const stripSeparators = (phone: string): string => phone.normalize("NFKC").replace(/[\s().\-/]/g, "");

/** Country codes of one and two digits (ITU-T E.164); all others have three. */
const countryCodePattern = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** The country code at the beginning of a stored number. */
export const countryCodeOf = (phone: string): string => countryCodePattern.exec(phone)?.[1] ?? "";

/**
 * Countries where a 0 is dialled before a national number and no international number has one (ITU-T E.123, the national
 * numbering plans). Not among them: those whose numbers keep their 0 abroad, as of Congo-Brazzaville (242), Côte d'Ivoire
 * (225), Benin (229), Gabon (241) and Italy (39), and those that dial no 0.
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

/** A number without the 0 that is dialled before it at home: +243 0 81… is +243 81…. */
const withoutTrunkZero = (phone: string): string => {
  const code = countryCodeOf(phone);
  const national = phone.slice(1 + code.length);
  const shorter = `+${code}${national.slice(1)}`;
  return trunkZeroCodes.has(code) && national.startsWith("0") && isPhone(shorter) ? shorter : phone;
};

/** The same number with that 0, as accounts made before there was one form may have it. */
const withTrunkZero = (phone: string): string | undefined => {
  const code = countryCodeOf(phone);
  const longer = `+${code}0${phone.slice(1 + code.length)}`;
  return trunkZeroCodes.has(code) && isPhone(longer) ? longer : undefined;
};

/** A number with its plus, its digits as they were typed. Undefined when it cannot be a number. */
const toTyped = (phone: string): string | undefined => {
  const typed = `+${stripSeparators(phone).replace(/^\+/, "").replace(/^00/, "")}`;
  return isPhone(typed) ? typed : undefined;
};

/**
 * The one form a number is stored in: E.164 with its plus (SPEC.md §5 prefixes it when missing) and without a trunk 0.
 * Undefined when it cannot be a number.
 */
export const toE164 = (phone: string): string | undefined => {
  const typed = toTyped(phone);
  return typed && withoutTrunkZero(typed);
};

/** All forms in which an account may have a number: as it is written here, then the one that is stored, then with a trunk 0. */
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

/** A number that is to be stored. */
export const Phone = createPhoneSchema(toE164);
/** A number by which an account is looked for, in whichever form it was typed: see `phoneForms`. */
export const TypedPhone = createPhoneSchema(toTyped);

/**
 * A number as people see it who may not know it: its country and its last two digits, by which somebody who knows it
 * recognises it. It is no number any more, and its length does not tell that of the number.
 */
export const maskPhone = (phone: string): string => `+${countryCodeOf(phone)} •• ••• •• ${phone.slice(-2)}`;
/** The same without its last digits, for whoever could try the few that are missing. */
export const maskWholePhone = (phone: string): string => `+${countryCodeOf(phone)} •• ••• •• ••`;
export const isMaskedPhone = (phone: string): boolean => phone.includes("•");

/** The digits a phone search looks for, from what was typed: any part of a number, its zeros included. */
export const toPhoneQuery = (query: string): string => stripSeparators(query).replace(/\D/g, "");

/** Parsed phone search: complete numbers, likeliest first, and digits that numbers begin with or contain. */
export type PhoneQuery = { wholes: string[]; beginnings: string[]; parts: string[] };

/**
 * How digits may be meant by somebody with this number of their own: as they stand, with 00 for a plus, with the 0 that is
 * dialled at home, or all of a number at home but that 0. Every reading is looked for, so that no account whose number happens to be one of them hides another.
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
