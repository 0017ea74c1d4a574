import { AuthUser } from "#contract/auth/auth.ts";
import { OnwardAddress, type VerifyOnward } from "#contract/auth/security.ts";
import { request } from "#lib/http/api.ts";
import { exchange } from "#lib/http/http-request.ts";
import { readAnswer } from "#lib/http/parse-response.ts";
import type { Opened } from "./session.ts";
import { openSession } from "./sign-in.ts";

// Getting back into an account (SPEC.md §7). Each throws `ApiFailure`.

/** What a mail's link carries in its fragment. */
export type Mailed = { type: "recovery" | "email_change"; token: string; redirect_to?: string };

export const readMailed = (fragment: string): Mailed | undefined => {
  const said = new URLSearchParams(fragment.slice(1));
  const [type, token] = [said.get("type"), said.get("token")];
  const onward = said.get("redirect_to");
  if (!token || (type !== "recovery" && type !== "email_change")) return undefined;
  return { type, token, ...(onward && type === "recovery" ? { redirect_to: onward } : {}) };
};

/** Leaves for the program that asked for the mail, with a code that it alone can use. */
export const goOnward = async (token_hash: string, redirect_to: string): Promise<void> => {
  const body = { token_hash, redirect_to } satisfies VerifyOnward;
  location.assign(readAnswer(OnwardAddress, await exchange("POST", "/api/auth/verify/redirect", body)).url);
};

/** Asks for a mail; what comes back says nothing of whether anybody has the address. */
export const askRecovery = async (email: string, captcha_token: string): Promise<void> => {
  await exchange("POST", "/api/auth/recover", { email, gotrue_meta_security: { captcha_token } });
};

export const openByLink = (token_hash: string): Promise<Opened> =>
  openSession("/api/auth/verify", { type: "recovery", token_hash });

export const openByMailedCode = (email: string, token: string): Promise<Opened> =>
  openSession("/api/auth/verify", { type: "recovery", email, token });

export const openByRecoveryCode = (phone: string, code: string, captcha_token: string): Promise<Opened> =>
  openSession("/api/auth/recover/code", { phone, code, gotrue_meta_security: { captcha_token } });

export const confirmAddress = async (token_hash: string): Promise<void> => {
  await exchange("POST", "/api/auth/verify", { type: "email_change", token_hash });
};

/** Whose account it is that a mail, or a code, led into. */
export const loadOwnPhone = async (): Promise<string> =>
  readAnswer(AuthUser, await request("GET", "/api/auth/user")).phone;
