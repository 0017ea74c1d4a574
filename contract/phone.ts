import * as v from "valibot";
import { phoneMaxDigits, phoneMinDigits } from "./limits";

/** Digits of a number as people write it: spaces, dots, dashes and brackets are theirs, 00 is a plus. */
const compact = (phone: string): string => phone.normalize("NFKC").replace(/[\s().\-/]/g, "");

/**
 * The one form a number is stored in: E.164 with its plus (SPEC.md §5 prefixes it when missing). Undefined
 * when it cannot be a number.
 */
export const toE164 = (phone: string): string | undefined => {
  const digits = compact(phone).replace(/^\+/, "").replace(/^00/, "");
  const shape = new RegExp(`^[1-9][0-9]{${phoneMinDigits - 1},${phoneMaxDigits - 1}}$`);
  return shape.test(digits) ? `+${digits}` : undefined;
};

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

/** The digits a phone search looks for, from what was typed: any part of a number, its zeros included. */
export const toPhoneQuery = (query: string): string => compact(query).replace(/\D/g, "");

/** Country codes of one and two digits (ITU-T E.164); all others have three. */
const countryCode = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** The country code at the beginning of a stored number. */
export const countryCodeOf = (phone: string): string => countryCode.exec(phone)?.[1] ?? "";
