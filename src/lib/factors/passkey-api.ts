import { startAuthentication, startRegistration, WebAuthnError } from "@simplewebauthn/browser";
import { Ceremony, Passkey } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { request } from "#lib/http/api.ts";
import { readAnswer } from "#lib/http/parse-response.ts";
import type { Opened } from "#lib/session/session.ts";
import { openSession } from "#lib/session/sign-in.ts";
import { PasskeyFailure } from "./passkey-error.ts";

// The work of `passkeys.ts`: a question of the server's, the browser's answer, and back.

/**
 * The browser's answer; undefined when the person closed its dialog, or let it stand until it went. Browsers say no more
 * of that than "not allowed", so that no page learns who has a passkey here.
 */
const ask = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof WebAuthnError ? error.cause : error;
    const name = cause instanceof Error ? cause.name : "";
    if (name === "NotAllowedError" || name === "AbortError") return undefined;
    if (name === "InvalidStateError") throw new PasskeyFailure("already_added", error);
    if (name === "ConstraintError" || name === "NotSupportedError") throw new PasskeyFailure("unsupported", error);
    throw new PasskeyFailure("failed", error);
  }
};

type CreationOptions = Parameters<typeof startRegistration>[0]["optionsJSON"];
type RequestOptions = Parameters<typeof startAuthentication>[0]["optionsJSON"];
// The server makes them by the same library; the browser refuses what is none.
const toOptions = <T extends CreationOptions | RequestOptions>({ options }: Ceremony): T => options as unknown as T;

export const addPasskey = async (name?: string): Promise<Passkey | undefined> => {
  const ceremony = readAnswer(Ceremony, await request("POST", "/api/auth/passkeys/registration/options", {}));
  const response = await ask(() => startRegistration({ optionsJSON: toOptions<CreationOptions>(ceremony) }));
  if (!response) return undefined;
  const body = { ceremony: ceremony.ceremony, response, ...(name === undefined ? {} : { name }) };
  return readAnswer(Passkey, await request("POST", "/api/auth/passkeys", body));
};

export const renamePasskey = async (id: Uuid, name: string): Promise<Passkey> =>
  readAnswer(Passkey, await request("PATCH", `/api/auth/passkeys/${id}`, { name }));

export const removePasskey = async (id: Uuid): Promise<void> => {
  await request("DELETE", `/api/auth/passkeys/${id}`);
};

export const setPasskeyStep = async (isWanted: boolean): Promise<void> => {
  await request("PUT", "/api/auth/passkeys/second-step", { second_step: isWanted });
};

const pose = async (path: string): Promise<Ceremony> =>
  readAnswer(Ceremony, await request("POST", `${path}/options`, {}));

type Shown = { ceremony: Uuid; response: Awaited<ReturnType<typeof startAuthentication>> };

const show = async (path: string, useBrowserAutofill: boolean): Promise<Shown | undefined> => {
  const posed = await pose(path);
  const optionsJSON = toOptions<RequestOptions>(posed);
  const response = await ask(() => startAuthentication({ optionsJSON, useBrowserAutofill }));
  return response && { ceremony: posed.ceremony, response };
};

const answer = async (path: string, shown: Shown | undefined): Promise<Opened | undefined> =>
  shown && openSession(path, shown);

const signInPath = "/api/auth/passkeys/sign-in";
const stepPath = "/api/auth/passkeys/step";

export const signInByPasskey = async ({
  conditional = false,
}: {
  conditional?: boolean;
}): Promise<Opened | undefined> => {
  const shown = show(signInPath, conditional);
  return answer(signInPath, await (conditional ? shown.catch(() => undefined) : shown));
};

export const stepByPasskey = async (): Promise<Opened | undefined> => answer(stepPath, await show(stepPath, false));
