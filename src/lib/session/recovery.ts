import { AuthUser } from "#contract/auth/auth.ts";
import { OnwardAddress, type VerifyOnward } from "#contract/auth/security.ts";
import { requestApi } from "#lib/http/api.ts";
import { sendHttpRequest } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import type { OpenedSession } from "./session.ts";
import { openSession } from "./sign-in.ts";

// Account recovery (SPEC.md §7). Each function throws `ApiRequestError`.

/** Fragment of a link in a mail. */
export type MailedToken = { type: "recovery" | "email_change"; token: string; redirect_to?: string };

export const parseMailedToken = (fragment: string): MailedToken | undefined => {
  const parameters = new URLSearchParams(fragment.slice(1));
  const [type, token] = [parameters.get("type"), parameters.get("token")];
  const redirectTo = parameters.get("redirect_to");
  if (!token || (type !== "recovery" && type !== "email_change")) return undefined;
  return { type, token, ...(redirectTo && type === "recovery" ? { redirect_to: redirectTo } : {}) };
};

/** Redirects to the program that requested the mail, with a code that only it can use. */
export const redirectToRequester = async (token_hash: string, redirect_to: string): Promise<void> => {
  const body = { token_hash, redirect_to } satisfies VerifyOnward;
  location.assign(parseResponse(OnwardAddress, await sendHttpRequest("POST", "/api/auth/verify/redirect", body)).url);
};

/** Requests a recovery mail; the response does not reveal whether an account has the address. */
export const requestRecoveryMail = async (email: string, captcha_token: string): Promise<void> => {
  await sendHttpRequest("POST", "/api/auth/recover", { email, gotrue_meta_security: { captcha_token } });
};

export const signInByRecoveryLink = (token_hash: string): Promise<OpenedSession> =>
  openSession("/api/auth/verify", { type: "recovery", token_hash });

export const signInByMailedCode = (email: string, token: string): Promise<OpenedSession> =>
  openSession("/api/auth/verify", { type: "recovery", email, token });

export const signInByRecoveryCode = (phone: string, code: string, captcha_token: string): Promise<OpenedSession> =>
  openSession("/api/auth/recover/code", { phone, code, gotrue_meta_security: { captcha_token } });

export const confirmMailedAddress = async (token_hash: string): Promise<void> => {
  await sendHttpRequest("POST", "/api/auth/verify", { type: "email_change", token_hash });
};

/** Phone number of the account that was recovered. */
export const loadOwnPhone = async (): Promise<string> =>
  parseResponse(AuthUser, await requestApi("GET", "/api/auth/user")).phone;
