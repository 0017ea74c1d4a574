import { startAuthentication, startRegistration, WebAuthnError } from "@simplewebauthn/browser";
import { Ceremony, Passkey } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import type { OpenedSession } from "#lib/session/session.ts";
import { openSession } from "#lib/session/sign-in.ts";
import { PasskeyError } from "./passkey-error.ts";

// The work of `passkeys.ts`: a question of the server's, the browser's answer, and back.

/**
 * The browser's answer; undefined when the person closed its dialog, or let it stand until it went. Browsers say no more
 * of that than "not allowed", so that no page learns who has a passkey here.
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
// The server makes them by the same library; the browser refuses what is none.
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
  const posed = await requestCeremony(path);
  const optionsJSON = toOptions<AuthenticationOptionsJson>(posed);
  const response = await runWebAuthn(() => startAuthentication({ optionsJSON, useBrowserAutofill }));
  return response && { ceremony: posed.ceremony, response };
};

const submitAssertion = async (path: string, shown: PasskeyAssertion | undefined): Promise<OpenedSession | undefined> =>
  shown && openSession(path, shown);

const signInPath = "/api/auth/passkeys/sign-in";
const verificationPath = "/api/auth/passkeys/step";

export const runPasskeySignIn = async ({
  conditional = false,
}: {
  conditional?: boolean;
}): Promise<OpenedSession | undefined> => {
  const shown = requestAssertion(signInPath, conditional);
  return submitAssertion(signInPath, await (conditional ? shown.catch(() => undefined) : shown));
};

export const runPasskeyVerification = async (): Promise<OpenedSession | undefined> =>
  submitAssertion(verificationPath, await requestAssertion(verificationPath, false));
