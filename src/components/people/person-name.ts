import { formatPhone } from "#contract/phone/phone-text.ts";
import type { Translate } from "#i18n/setup.ts";

/** Display name of a person. A deleted account has no name any more. */
export const toDisplayName = (
  person: { username: string; deleted?: 1 | undefined } | undefined,
  t: Translate,
): string => (person?.deleted ? t("common.deletedAccount") : person?.username || t("common.user"));

/** Name of a person, or the number if there is none. */
export const toNameOrNumber = ({ username, phone }: { username: string; phone: string }): string =>
  username || formatPhone(phone);
