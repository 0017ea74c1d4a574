import { startAuthentication, startRegistration, WebAuthnError } from "@simplewebauthn/browser";
import { Ceremony, Passkey } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import type { OpenedSession } from "#lib/session/session.ts";
import { openSession } from "#lib/session/sign-in.ts";
import { PasskeyError } from "./passkey-error.ts";

// Implementation of `passkeys.ts`: each request gets a challenge from the server, runs the browser's dialog and sends
// the result.

/**
 * Runs a WebAuthn dialog; undefined if the person closed it or it timed out. Browsers report both as "not allowed", so
 * that pages cannot learn who has a passkey.
 */
const runWebAuthn = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof WebAuthnError ? error.cause : error;
    const name = cause instanceof Error ? cause.name : "";
    if (name === "NotAllowedError" || name === "AbortError") return undefined;
    if (name === "InvalidStateError") throw new PasskeyError("already_added", error);
    if (name === "ConstraintError" || name === "NotSupportedError") throw new PasskeyError("unsupported", error);
    throw new PasskeyError("failed", error);
  }
};

type RegistrationOptionsJson = Parameters<typeof startRegistration>[0]["optionsJSON"];
type AuthenticationOptionsJson = Parameters<typeof startAuthentication>[0]["optionsJSON"];
// The server creates the options with the same library; the browser rejects invalid ones.
const toOptions = <T extends RegistrationOptionsJson | AuthenticationOptionsJson>({ options }: Ceremony): T =>
  options as unknown as T;

export const runPasskeyRegistration = async (name?: string): Promise<Passkey | undefined> => {
  const ceremony = parseResponse(Ceremony, await requestApi("POST", "/api/auth/passkeys/registration/options", {}));
  const response = await runWebAuthn(() =>
    startRegistration({ optionsJSON: toOptions<RegistrationOptionsJson>(ceremony) }),
  );
  if (!response) return undefined;
  const body = { ceremony: ceremony.ceremony, response, ...(name === undefined ? {} : { name }) };
  return parseResponse(Passkey, await requestApi("POST", "/api/auth/passkeys", body));
};

export const sendPasskeyName = async (id: Uuid, name: string): Promise<Passkey> =>
  parseResponse(Passkey, await requestApi("PATCH", `/api/auth/passkeys/${id}`, { name }));

export const sendPasskeyRemoval = async (id: Uuid): Promise<void> => {
  await requestApi("DELETE", `/api/auth/passkeys/${id}`);
};

export const sendPasskeySecondStep = async (isWanted: boolean): Promise<void> => {
  await requestApi("PUT", "/api/auth/passkeys/second-step", { second_step: isWanted });
};

const requestCeremony = async (path: string): Promise<Ceremony> =>
  parseResponse(Ceremony, await requestApi("POST", `${path}/options`, {}));

type PasskeyAssertion = { ceremony: Uuid; response: Awaited<ReturnType<typeof startAuthentication>> };

const requestAssertion = async (path: string, useBrowserAutofill: boolean): Promise<PasskeyAssertion | undefined> => {
  const ceremony = await requestCeremony(path);
  const optionsJSON = toOptions<AuthenticationOptionsJson>(ceremony);
  const response = await runWebAuthn(() => startAuthentication({ optionsJSON, useBrowserAutofill }));
  return response && { ceremony: ceremony.ceremony, response };
};

const submitAssertion = async (
  path: string,
  assertion: PasskeyAssertion | undefined,
): Promise<OpenedSession | undefined> => assertion && openSession(path, assertion);

const signInPath = "/api/auth/passkeys/sign-in";
const verificationPath = "/api/auth/passkeys/step";

export const runPasskeySignIn = async ({
  conditional = false,
}: {
  conditional?: boolean;
}): Promise<OpenedSession | undefined> => {
  const assertion = requestAssertion(signInPath, conditional);
  return submitAssertion(signInPath, await (conditional ? assertion.catch(() => undefined) : assertion));
};

export const runPasskeyVerification = async (): Promise<OpenedSession | undefined> =>
  submitAssertion(verificationPath, await requestAssertion(verificationPath, false));
