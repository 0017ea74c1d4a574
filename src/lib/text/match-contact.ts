import { toPhoneQuery } from "#contract/phone.ts";
import { foldText } from "#contract/text.ts";

/** SPEC.md §2: a substring of the name or of the number, without case; and without accents. */
export const matchesContact = (query: string, contact: { username: string; phone: string }): boolean => {
  const wanted = foldText(query.trim());
  if (wanted === "") return true;
  if (foldText(contact.username).includes(wanted) || contact.phone.includes(wanted)) return true;
  // A number as people write it, with spaces and signs. Letters in it make it a name.
  const digits = /^[\d\s().+/-]+$/.test(wanted) ? toPhoneQuery(wanted) : "";
  return digits !== "" && (contact.phone.includes(digits) || contact.phone.includes(digits.replace(/^00/, "")));
};
