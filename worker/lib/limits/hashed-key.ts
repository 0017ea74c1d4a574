import { createHmac } from "node:crypto";

/**
 * Key of a limit kept for a phone number, a mail address or a network. Keyed, so that the table of limits names nobody:
 * numbers and addresses are few enough to be found again from a plain hash.
 */
export const hashLimitKey = ({ PEPPER }: Pick<Env, "PEPPER">, name: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo address ${name}`).digest("base64url");
