import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { factorNameMaxLength } from "#contract/limits/authentication.ts";
import { createNameSchema } from "#contract/text.ts";

/** Authentication factors besides the password: TOTP apps, recovery codes and passkeys. */

export const FactorName = createNameSchema(factorNameMaxLength, "invalid_name");

// TOTP factors (RFC 6238), in the wire form of the public GoTrue API

export const Enrolment = v.object({
  factor_type: v.literal("totp"),
  friendly_name: v.optional(v.union([v.literal(""), FactorName])),
  /** Issuer shown in the authenticator app. Default "Lisolo"; other client programs may set their own name. */
  issuer: v.optional(v.union([v.literal(""), FactorName])),
});
export type Enrolment = v.InferInput<typeof Enrolment>;

export const Enrolled = v.object({
  id: Uuid,
  type: v.literal("totp"),
  friendly_name: v.string(),
  /** QR code as SVG, its URI, and the secret in base32 for typing. Returned only once. */
  totp: v.object({ qr_code: v.string(), secret: v.string(), uri: v.string() }),
});
export type Enrolled = v.InferOutput<typeof Enrolled>;

/** `expires_at` in seconds since 1970. */
export const FactorChallenge = v.object({ id: Uuid, type: v.literal("totp"), expires_at: v.number() });
export type FactorChallenge = v.InferOutput<typeof FactorChallenge>;

export const FactorProof = v.object({ challenge_id: Uuid, code: v.pipe(v.string(), v.maxLength(16)) });
export type FactorProof = v.InferInput<typeof FactorProof>;

export const FactorRemoved = v.object({ id: Uuid });

// Recovery codes

/** Returned only once. */
export const RecoveryCodes = v.object({ codes: v.array(v.string()) });
export type RecoveryCodes = v.InferOutput<typeof RecoveryCodes>;

const Code = v.pipe(v.string(), v.maxLength(64));
/** Recovery code as a second factor or for reauthentication. Spaces, dashes and case are ignored. */
export const CodeProof = v.object({ code: Code });
export type CodeProof = v.InferInput<typeof CodeProof>;

// Password for reauthentication

export const PasswordProof = v.object({ password: v.pipe(v.string(), v.minLength(1), v.maxLength(512)) });
export type PasswordProof = v.InferInput<typeof PasswordProof>;

// Passkeys (Web Authentication level 3; options and responses in its JSON forms)

/**
 * `PublicKeyCredentialCreationOptionsJSON` or `…RequestOptionsJSON` for the browser. `ceremony` is sent back with the
 * response.
 */
export const Ceremony = v.object({ ceremony: Uuid, options: v.record(v.string(), v.unknown()) });
export type Ceremony = v.InferOutput<typeof Ceremony>;

const boundedText = (maxLength: number) => v.pipe(v.string(), v.maxLength(maxLength));
const credentialFields = {
  id: boundedText(1_400),
  rawId: boundedText(1_400),
  type: v.literal("public-key"),
  authenticatorAttachment: v.optional(v.nullable(boundedText(32))),
  clientExtensionResults: v.optional(v.record(v.string(), v.unknown()), {}),
};

export const NewPasskey = v.object({
  ceremony: Uuid,
  name: v.optional(FactorName),
  response: v.object({
    ...credentialFields,
    response: v.object({
      clientDataJSON: boundedText(8_192),
      attestationObject: boundedText(32_768),
      transports: v.optional(v.pipe(v.array(boundedText(32)), v.maxLength(10))),
    }),
  }),
});
export type NewPasskey = v.InferInput<typeof NewPasskey>;

export const PasskeyProof = v.object({
  ceremony: Uuid,
  response: v.object({
    ...credentialFields,
    response: v.object({
      clientDataJSON: boundedText(8_192),
      authenticatorData: boundedText(8_192),
      signature: boundedText(4_096),
      userHandle: v.optional(v.nullable(boundedText(128))),
    }),
  }),
});
export type PasskeyProof = v.InferInput<typeof PasskeyProof>;

/**
 * Times in epoch milliseconds. `synced`: the passkey is backed up by its provider and survives the loss of a device.
 */
export const Passkey = v.object({
  id: Uuid,
  name: v.string(),
  synced: v.boolean(),
  created_at: v.number(),
  used_at: v.nullable(v.number()),
});
export type Passkey = v.InferOutput<typeof Passkey>;

export const PasskeyRename = v.strictObject({ name: FactorName });
/** Whether a passkey is required as a second factor after the password. */
export const PasskeyStep = v.strictObject({ second_step: v.boolean() });
