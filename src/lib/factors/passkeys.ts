import type { Passkey } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import type { OpenedSession } from "#lib/session/session.ts";

/**
 * Passkeys, as the screens use them. What does the work comes when somebody uses one: the log-in page is to stand before.
 *
 * Each throws `ApiFailure`, or `PasskeyFailure` where the browser refused; `passkeyFailureText` says either. Who closes the
 * browser's own dialog changed their mind, which is no failure: the answer is undefined then.
 */
const loadPasskeyApi = async () => {
  try {
    return await import("./passkey-api.ts");
  } catch {
    throw new ApiRequestError("offline", 0);
  }
};

/** Whether this browser knows passkeys. Known at once, but not where pages are prerendered. */
export const canUsePasskeys = (): boolean => typeof globalThis.PublicKeyCredential === "function";

/** Whether it offers them in a field, beside what else it fills in. */
export const canAutofillPasskeys = async (): Promise<boolean> =>
  canUsePasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;

/** Makes one for the person who is signed in; without a name the server gives one. Asks for a proof (`reauthentication_needed`). */
export const addPasskey = async (name?: string): Promise<Passkey | undefined> =>
  (await loadPasskeyApi()).runPasskeyRegistration(name);

export const changePasskeyName = async (id: Uuid, name: string): Promise<Passkey> =>
  (await loadPasskeyApi()).sendPasskeyName(id, name);

/** Asks for a proof. The last one takes the wish for a second step with it. */
export const removePasskey = async (id: Uuid): Promise<void> => (await loadPasskeyApi()).sendPasskeyRemoval(id);

/** Whether a passkey is asked for after the password too. Asks for a proof. */
export const setPasskeySecondStep = async (isWanted: boolean): Promise<void> =>
  (await loadPasskeyApi()).sendPasskeySecondStep(isWanted);

/**
 * Signs in without a password. `conditional`: only offers it in the field with `autocomplete="… webauthn"`, and answers when
 * somebody takes the offer, or undefined once another question of this kind has taken its place. What goes wrong before
 * somebody took it goes unsaid.
 */
export const signInWithPasskey = async (options: { conditional?: boolean } = {}): Promise<OpenedSession | undefined> =>
  (await loadPasskeyApi()).runPasskeySignIn(options);

/** Shows a passkey in the session there is: as the second step it owes, or before what asks for a proof. */
export const verifyWithPasskey = async (): Promise<OpenedSession | undefined> =>
  (await loadPasskeyApi()).runPasskeyVerification();
