import { createHmac } from "node:crypto";

/**
 * Rate-limit key of a phone number, e-mail address or network. A keyed hash, because these values are few enough to be
 * recovered from a plain one.
 */
export const hashLimitKey = ({ PEPPER }: Pick<Env, "PEPPER">, name: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo address ${name}`).digest("base64url");
