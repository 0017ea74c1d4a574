import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type * as v from "valibot";
import type { NewPasskey, PasskeyProof } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { ceremonySeconds } from "#contract/limits.ts";
import { openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { getPublicOrigin } from "#worker/lib/http/public-origin.ts";
import { findPasskey, type PasskeyRow, type PasskeyWithOwner, recordPasskeyUse } from "./passkeys.ts";

/** What Web Authentication (level 3) has a site check, by a library that is read only once somebody uses a passkey. */
const loadLibrary = () => import("./webauthn-library.ts");

/** Ed25519, ECDSA on P-256 and RSA: what any authenticator has one of. */
const algorithms = [-8, -7, -257];

/** Where our passkeys belong: the product's public address, and nowhere else. */
const getRelyingParty = (c: AppContext): { rpID: string; origin: string } => {
  const origin = getPublicOrigin(c);
  return { rpID: new URL(origin).hostname, origin };
};

const publicKeyMaxBytes = 1_024; // RSA of 4096 bits takes half of it
const transportNames = ["usb", "nfc", "ble", "smart-card", "hybrid", "internal"];

type CredentialColumns = Pick<PasskeyRow, "credential_id" | "transports">;
const toCredentialDescriptor = ({ credential_id, transports }: CredentialColumns) => ({
  id: credential_id,
  transports: transports.split(",").filter((name) => name !== ""),
});

type PasskeyUser = { handle: string; phone: string; username: string };

/** What a browser is asked to make a passkey by. It names the person to the person: their device shows both names. */
export const createRegistrationOptions = async (
  c: AppContext,
  challenge: Uint8Array<ArrayBuffer>,
  { handle, phone, username }: PasskeyUser,
  theirs: CredentialColumns[],
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
    excludeCredentials: theirs.map(toCredentialDescriptor),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: algorithms,
  });
};

/** What a browser is asked to show a passkey by: one of these, or whichever it has of ours. */
export const createAuthenticationOptions = async (
  c: AppContext,
  challenge: Uint8Array<ArrayBuffer>,
  theirs?: CredentialColumns[],
) => {
  const { generateAuthenticationOptions } = await loadLibrary();
  return generateAuthenticationOptions({
    rpID: getRelyingParty(c).rpID,
    challenge,
    timeout: ceremonySeconds * 1_000,
    userVerification: "required",
    ...(theirs ? { allowCredentials: theirs.map(toCredentialDescriptor) } : {}),
  });
};

/** What the library threw out is refused, and nobody is told why. */
const ignoreRejection = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);

/** Nobody asked who made the authenticator, so nothing its maker certifies is read: it would be a parser for strangers. */
const hasNoCertificate = async (attestationObject: string): Promise<boolean> => {
  const { decodeAttestationObject } = await loadLibrary();
  try {
    const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
    const format = attestation.get("fmt");
    return format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
  } catch {
    return false; // no attestation at all
  }
};

type VerifiedPasskey = Omit<PasskeyRow, "id" | "user_id" | "name" | "created_at" | "used_at">;

/** The passkey that answers a question of ours; undefined when it does not, or its person was not verified. */
export const verifyRegistration = async (
  c: AppContext,
  expectedChallenge: string,
  response: v.InferOutput<typeof NewPasskey>["response"],
): Promise<VerifiedPasskey | undefined> => {
  if (!(await hasNoCertificate(response.response.attestationObject))) return undefined;
  const { verifyRegistrationResponse } = await loadLibrary();
  const { rpID, origin } = getRelyingParty(c);
  const found = await ignoreRejection(
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!found?.verified) return undefined;
  const { credential, credentialBackedUp } = found.registrationInfo;
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

/** Nobody's: whoever shows a passkey that is not known waits for the same work. */
const dummyPasskey = {
  id: "",
  user_id: "",
  user_handle: "",
  // P-256's base point
  public_key: "pQECAyYgASFYIGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWIlggT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
};

/**
 * The passkey that answers a question of ours; undefined when none does, whatever the reason. `owner`: it has to be theirs, and
 * whom it was made for need not be said again.
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
  const known = await findPasskey(db, credential.id);
  const { id, public_key, user_id, user_handle } = known ?? dummyPasskey;
  const found = await ignoreRejection(
    verifyAuthenticationResponse({
      response: { ...credential, response } as AuthenticationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      // Whether it has grown is said by the one statement that also writes it down.
      credential: { id: credential.id, publicKey: new Uint8Array(Buffer.from(public_key, "base64url")), counter: 0 },
    }),
  );
  const isTheirs = owner === undefined || owner === user_id;
  const isMeant = response.userHandle ? response.userHandle === user_handle : owner !== undefined;
  if (!known || !found?.verified || !isTheirs || !isMeant) return undefined;
  const { newCounter, credentialBackedUp } = found.authenticationInfo;
  if (await recordPasskeyUse(db, id, newCounter, credentialBackedUp)) return known;
  console.warn("a passkey's counter did not grow: it may have been copied");
  return undefined;
};
