import { cleanPhone } from "#contract/phone/phone-text.ts";
import { foldText } from "#contract/text.ts";

/** Whether a query is part of the name or the number, ignoring case (SPEC.md §2) and accents. */
export const matchesContact = (query: string, contact: { username: string; phone: string }): boolean => {
  const wanted = foldText(query.trim());
  if (wanted === "") return true;
  if (foldText(contact.username).includes(wanted) || contact.phone.includes(wanted)) return true;
  // A query with letters is a name.
  const digits = /^\+?(\d+)$/.exec(cleanPhone(query))?.[1] ?? "";
  return digits !== "" && (contact.phone.includes(digits) || contact.phone.includes(digits.replace(/^00/, "")));
};
