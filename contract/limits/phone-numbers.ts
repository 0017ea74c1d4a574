/** Limits of phone numbers: their form, search and verification. */

// Phones: E.164, at most 15 digits. Shorter national test numbers exist, hence 6.
export const phoneMinDigits = 6;
export const phoneMaxDigits = 15;
export const phoneSearchMinLength = 3;
export const phoneSearchMaxResults = 10;
export const phoneTailDigits = 4; // last digits of a number, which match only if the whole number is typed
export const newAccountHours = 72; // age up to which an account has fewer searches
export const searchesPerDay = 60; // different numbers and parts of numbers that one person searches
export const searchesPerDayNew = 20;

// Verification of numbers (docs/decisions/number-verification.md)
export const numberCodeDigits = 6;
export const numberCodeAttempts = 5; // of one code
export const numberProofMinutes = 10;
export const numberProofsPerDay = 5; // of a person
export const numberCodesPerDay = 3; // sent to a number
// Codes of an account younger than `newAccountHours`, and numbers among them that are not the one it registered with
export const numberCodesPerDayNew = 2;
export const foreignNumbersNew = 1;
// Share of an adapter's daily budget that numbers other than people's own may use up
export const foreignBudgetShare = 0.5;
// Used shares of the budget from which a code needs a proof of work of one level more
export const budgetLevels = [0.5, 0.75] as const;
export const numberCodePauseSeconds = 60; // before another code may be requested in the app
// A range of numbers gets no more codes today if after this many fewer than one in `numberCodesPerCompletion` were
// typed.
export const numberCodesOfRange = 20;
export const numberCodesPerCompletion = 4;
// Somebody who proves a verified number takes it over if its holder did not use the account for this long, as operators
// sell unused numbers again after 45 to 90 days, or did not verify it again this long after an earlier proof.
export const numberUnusedDays = 45;
export const numberContestDays = 7;
export const numberRangeDigits = 5; // last digits by which the numbers of a range differ

// Vouching for a number (docs/decisions/vouching.md)
export const vouchersNeeded = 2;
export const vouchingHours = 24; // in which both contacts confirm
export const voucherDays = 30; // for which somebody has been a contact and has had a verified number
export const vouchesMax = 5; // of one person within `voucherDays`
