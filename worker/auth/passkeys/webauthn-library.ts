/**
 * The library that checks passkeys, in one module, so that it comes as one file: cut in two, its parts would run in an
 * order in which they do not start. To be imported only once somebody uses a passkey (`verification.ts`).
 */
export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
export { decodeAttestationObject } from "@simplewebauthn/server/helpers";
