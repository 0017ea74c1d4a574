import type { Passkey } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import type { OpenedSession } from "#lib/session/session.ts";

/**
 * Passkey functions for screens. The implementation is loaded on first use, so that the log-in page appears sooner.
 *
 * Each throws `ApiRequestError`, or `PasskeyError` if the browser refused; `toPasskeyErrorText` translates both. If the
 * person closes the browser's dialog the result is undefined.
 */
const loadPasskeyApi = async () => {
  try {
    return await import("./passkey-api.ts");
  } catch {
    throw new ApiRequestError("offline", 0);
  }
};

/** Whether this browser supports passkeys. Synchronous; false during prerendering. */
export const canUsePasskeys = (): boolean => typeof globalThis.PublicKeyCredential === "function";

/** Whether the browser can offer passkeys in a field's autofill. */
export const canAutofillPasskeys = async (): Promise<boolean> =>
  canUsePasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;

/**
 * Registers a passkey for the signed-in person; the server chooses a name if none is given. Needs a recent
 * authentication (`reauthentication_needed`).
 */
export const addPasskey = async (name?: string): Promise<Passkey | undefined> =>
  (await loadPasskeyApi()).runPasskeyRegistration(name);

export const changePasskeyName = async (id: Uuid, name: string): Promise<Passkey> =>
  (await loadPasskeyApi()).sendPasskeyName(id, name);

/** Needs a recent authentication. Removing the last passkey also disables the passkey second step. */
export const removePasskey = async (id: Uuid): Promise<void> => (await loadPasskeyApi()).sendPasskeyRemoval(id);

/** Whether a passkey is required after the password. Needs a recent authentication. */
export const setPasskeySecondStep = async (isWanted: boolean): Promise<void> =>
  (await loadPasskeyApi()).sendPasskeySecondStep(isWanted);

/**
 * Signs in without a password. `conditional` only offers the passkey in the field with `autocomplete="… webauthn"`; it
 * resolves when the offer is accepted, or with undefined when another request of this kind replaces it. Errors before
 * acceptance are ignored.
 */
export const signInWithPasskey = async (options: { conditional?: boolean } = {}): Promise<OpenedSession | undefined> =>
  (await loadPasskeyApi()).runPasskeySignIn(options);

/** Verifies a passkey in the current session: as its pending second factor, or as a step-up. */
export const verifyWithPasskey = async (): Promise<OpenedSession | undefined> =>
  (await loadPasskeyApi()).runPasskeyVerification();
