/**
 * The passkey library in one module, so that the build emits one file: split in two, its parts would run in a broken
 * order. Import it only when a passkey is used (`verification.ts`).
 */
export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
export { decodeAttestationObject } from "@simplewebauthn/server/helpers";
