import { Enrolled, RecoveryCodes } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { request } from "#lib/http/api.ts";
import { failureCode } from "#lib/http/http-request.ts";
import { readAnswer } from "#lib/http/parse-response.ts";
import { dismissResets } from "#sync/hooks/use-security-notices.ts";

// What the security page changes on the server. Each throws `ApiFailure`, with `reauthentication_needed` where its person
// has to show first that they are themselves.

const tell = async (...asked: Parameters<typeof request>): Promise<void> => {
  await request(...asked);
};

/** A code app that counts once its first code was shown (`showCode`). */
export const enrolApp = async (name: string): Promise<Enrolled> => {
  const enrolment = { factor_type: "totp", friendly_name: name };
  return readAnswer(Enrolled, await request("POST", "/api/auth/factors", enrolment));
};

export const removeApp = (id: Uuid) => tell("DELETE", `/api/auth/factors/${id}`);

const drawCodes = async (): Promise<string[]> =>
  readAnswer(RecoveryCodes, await request("POST", "/api/auth/recovery-codes")).codes;

/**
 * Asked once more where no answer came: codes may have been made that nobody saw, and the next ones take their place as
 * they took the old ones'.
 */
export const makeRecoveryCodes = (): Promise<string[]> =>
  drawCodes().catch((error: unknown) => {
    if (failureCode(error) === "offline") return drawCodes();
    throw error;
  });

/** Mails a code and a link to it; "" takes the address away. */
export const setRecoveryAddress = (email: string) => tell("PUT", "/api/auth/user", { email });

export const confirmRecoveryAddress = (email: string, token: string) =>
  tell("POST", "/api/auth/verify", { type: "email_change", email, token });

export const endDevice = (id: Uuid) => tell("DELETE", `/api/auth/sessions/${id}`);
export const endOtherDevices = () => tell("DELETE", "/api/auth/sessions");

/** Keeps the second step that somebody asked to be taken away. */
export const cancelReset = async (): Promise<void> => {
  await tell("DELETE", "/api/auth/factors/reset");
  await dismissResets();
};
