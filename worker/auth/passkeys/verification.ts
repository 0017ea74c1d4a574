import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type * as v from "valibot";
import type { NewPasskey, PasskeyProof } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { ceremonySeconds } from "#contract/limits/authentication.ts";
import { openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { getPublicOrigin } from "#worker/lib/http/public-origin.ts";
import { findPasskey, type PasskeyRow, type PasskeyWithOwner, recordPasskeyUse } from "./passkeys.ts";

/** Loads the library for the checks of Web Authentication Level 3 on first use. */
const loadLibrary = () => import("./webauthn-library.ts");

/** COSE algorithms: Ed25519, ECDSA on P-256 and RSA. Every authenticator supports one of them. */
const algorithms = [-8, -7, -257];

/** Relying party of all passkeys: the product's public origin. */
const getRelyingParty = (c: AppContext): { rpID: string; origin: string } => {
  const origin = getPublicOrigin(c);
  return { rpID: new URL(origin).hostname, origin };
};

const publicKeyMaxBytes = 1_024; // a 4096-bit RSA key takes half of it
const transportNames = ["usb", "nfc", "ble", "smart-card", "hybrid", "internal"];

type CredentialColumns = Pick<PasskeyRow, "credential_id" | "transports">;
const toCredentialDescriptor = ({ credential_id, transports }: CredentialColumns) => ({
  id: credential_id,
  transports: transports.split(",").filter((name) => name !== ""),
});

type PasskeyUser = { handle: string; phone: string; username: string };

/** WebAuthn options to create a passkey. The person's device displays both names. */
export const createRegistrationOptions = async (
  c: AppContext,
  challenge: Uint8Array<ArrayBuffer>,
  { handle, phone, username }: PasskeyUser,
  allowed: CredentialColumns[],
) => {
  const { generateRegistrationOptions } = await loadLibrary();
  return generateRegistrationOptions({
    rpName: "Lisolo",
    rpID: getRelyingParty(c).rpID,
    userID: new Uint8Array(Buffer.from(handle, "base64url")),
    userName: phone,
    userDisplayName: username,
    challenge,
    timeout: ceremonySeconds * 1_000,
    attestationType: "none",
    excludeCredentials: allowed.map(toCredentialDescriptor),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: algorithms,
  });
};

/** WebAuthn options to sign with a passkey: one of `allowed`, or any discoverable one. */
export const createAuthenticationOptions = async (
  c: AppContext,
  challenge: Uint8Array<ArrayBuffer>,
  allowed?: CredentialColumns[],
) => {
  const { generateAuthenticationOptions } = await loadLibrary();
  return generateAuthenticationOptions({
    rpID: getRelyingParty(c).rpID,
    challenge,
    timeout: ceremonySeconds * 1_000,
    userVerification: "required",
    ...(allowed ? { allowCredentials: allowed.map(toCredentialDescriptor) } : {}),
  });
};

/** Returns undefined if the library throws. The reason is not disclosed to the client. */
const ignoreRejection = <T>(promise: Promise<T>): Promise<T | undefined> => promise.catch(() => undefined);

/**
 * Tests that an attestation carries no certificate. Attestation is not requested, so certificates are not parsed: that
 * parser would be exposed to unauthenticated input.
 */
const hasNoCertificate = async (attestationObject: string): Promise<boolean> => {
  const { decodeAttestationObject } = await loadLibrary();
  try {
    const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
    const format = attestation.get("fmt");
    return format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
  } catch {
    return false; // no attestation object
  }
};

type VerifiedPasskey = Omit<PasskeyRow, "id" | "user_id" | "name" | "created_at" | "used_at">;

/**
 * Verifies a registration. Returns undefined if the response does not answer the challenge or lacks user verification.
 */
export const verifyRegistration = async (
  c: AppContext,
  expectedChallenge: string,
  response: v.InferOutput<typeof NewPasskey>["response"],
): Promise<VerifiedPasskey | undefined> => {
  if (!(await hasNoCertificate(response.response.attestationObject))) return undefined;
  const { verifyRegistrationResponse } = await loadLibrary();
  const { rpID, origin } = getRelyingParty(c);
  const result = await ignoreRejection(
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!result?.verified) return undefined;
  const { credential, credentialBackedUp } = result.registrationInfo;
  if (credential.id !== response.id || credential.publicKey.byteLength > publicKeyMaxBytes) return undefined;
  const transports: readonly string[] = response.response.transports ?? [];
  return {
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    transports: transportNames.filter((name) => transports.includes(name)).join(","),
    is_synced: credentialBackedUp,
  };
};

/** Stand-in for an unknown credential, so that verification takes as long as for a known one. */
const dummyPasskey = {
  id: "",
  user_id: "",
  user_handle: "",
  // base point of P-256
  public_key: "pQECAyYgASFYIGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWIlggT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
};

/**
 * Verifies an assertion. Returns undefined if it is invalid for any reason. With `owner` the passkey must belong to
 * that person, and the user handle may be absent.
 */
export const verifyAuthentication = async (
  c: AppContext,
  expectedChallenge: string,
  { response, ...credential }: v.InferOutput<typeof PasskeyProof>["response"],
  owner?: Uuid,
): Promise<PasskeyWithOwner | undefined> => {
  const db = openDb(c.env);
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { rpID, origin } = getRelyingParty(c);
  const passkey = await findPasskey(db, credential.id);
  const { id, public_key, user_id, user_handle } = passkey ?? dummyPasskey;
  const result = await ignoreRejection(
    verifyAuthenticationResponse({
      response: { ...credential, response } as AuthenticationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      // The counter is compared and stored by one statement (`recordPasskeyUse`).
      credential: { id: credential.id, publicKey: new Uint8Array(Buffer.from(public_key, "base64url")), counter: 0 },
    }),
  );
  const isOwnersPasskey = owner === undefined || owner === user_id;
  const isUserHandleValid = response.userHandle ? response.userHandle === user_handle : owner !== undefined;
  if (!passkey || !result?.verified || !isOwnersPasskey || !isUserHandleValid) return undefined;
  const { newCounter, credentialBackedUp } = result.authenticationInfo;
  if (await recordPasskeyUse(db, id, newCounter, credentialBackedUp)) return passkey;
  console.warn("a passkey's signature counter did not grow: it may have been copied");
  return undefined;
};
