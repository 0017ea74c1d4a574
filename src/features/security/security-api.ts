import { Enrolled, RecoveryCodes } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { dismissResets } from "#sync/hooks/notices/use-security-notices.ts";

// Requests of the security page. Each throws `ApiRequestError`, with code `reauthentication_needed` if the user has to
// authenticate again first.

const sendSecurityRequest = async (...asked: Parameters<typeof requestApi>): Promise<void> => {
  await requestApi(...asked);
};

/** Enrols an authenticator app. It becomes active with its first verified code (`submitTotp`). */
export const enrollAuthenticatorApp = async (name: string): Promise<Enrolled> => {
  const enrolment = { factor_type: "totp", friendly_name: name };
  return parseResponse(Enrolled, await requestApi("POST", "/api/auth/factors", enrolment));
};

export const removeAuthenticatorApp = (id: Uuid) => sendSecurityRequest("DELETE", `/api/auth/factors/${id}`);

const requestNewRecoveryCodes = async (): Promise<string[]> =>
  parseResponse(RecoveryCodes, await requestApi("POST", "/api/auth/recovery-codes")).codes;

/**
 * Generates new recovery codes, which replace all previous ones. Retried once if no response came: the codes of the
 * first request may exist unseen, and the second request replaces them.
 */
export const createRecoveryCodesWithRetry = (): Promise<string[]> =>
  requestNewRecoveryCodes().catch((error: unknown) => {
    if (toErrorCode(error) === "offline") return requestNewRecoveryCodes();
    throw error;
  });

/** Sends a confirmation code and link to the address; "" removes the address. */
export const requestRecoveryAddressChange = (email: string) => sendSecurityRequest("PUT", "/api/auth/user", { email });

export const submitRecoveryAddressCode = (email: string, token: string) =>
  sendSecurityRequest("POST", "/api/auth/verify", { type: "email_change", email, token });

export const signOutDevice = (id: Uuid) => sendSecurityRequest("DELETE", `/api/auth/sessions/${id}`);
export const signOutOtherDevices = () => sendSecurityRequest("DELETE", "/api/auth/sessions");

/** Cancels a requested second-factor reset and dismisses its notices. */
export const cancelPendingFactorReset = async (): Promise<void> => {
  await sendSecurityRequest("DELETE", "/api/auth/factors/reset");
  await dismissResets();
};
