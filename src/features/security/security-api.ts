import { Enrolled, RecoveryCodes } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { dismissResets } from "#sync/hooks/use-security-notices.ts";

// What the security page changes on the server. Each throws `ApiFailure`, with `reauthentication_needed` where its person
// has to show first that they are themselves.

const sendSecurityRequest = async (...asked: Parameters<typeof requestApi>): Promise<void> => {
  await requestApi(...asked);
};

/** A code app that counts once its first code was shown (`showCode`). */
export const enrollAuthenticatorApp = async (name: string): Promise<Enrolled> => {
  const enrolment = { factor_type: "totp", friendly_name: name };
  return parseResponse(Enrolled, await requestApi("POST", "/api/auth/factors", enrolment));
};

export const removeAuthenticatorApp = (id: Uuid) => sendSecurityRequest("DELETE", `/api/auth/factors/${id}`);

const requestNewRecoveryCodes = async (): Promise<string[]> =>
  parseResponse(RecoveryCodes, await requestApi("POST", "/api/auth/recovery-codes")).codes;

/**
 * Asked once more where no answer came: codes may have been made that nobody saw, and the next ones take their place as
 * they took the old ones'.
 */
export const createRecoveryCodesWithRetry = (): Promise<string[]> =>
  requestNewRecoveryCodes().catch((error: unknown) => {
    if (toErrorCode(error) === "offline") return requestNewRecoveryCodes();
    throw error;
  });

/** Mails a code and a link to it; "" takes the address away. */
export const requestRecoveryAddressChange = (email: string) => sendSecurityRequest("PUT", "/api/auth/user", { email });

export const submitRecoveryAddressCode = (email: string, token: string) =>
  sendSecurityRequest("POST", "/api/auth/verify", { type: "email_change", email, token });

export const signOutDevice = (id: Uuid) => sendSecurityRequest("DELETE", `/api/auth/sessions/${id}`);
export const signOutOtherDevices = () => sendSecurityRequest("DELETE", "/api/auth/sessions");

/** Keeps the second step that somebody asked to be taken away. */
export const cancelPendingFactorReset = async (): Promise<void> => {
  await sendSecurityRequest("DELETE", "/api/auth/factors/reset");
  await dismissResets();
};
