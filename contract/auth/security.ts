import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { emailMaxLength } from "#contract/limits/authentication.ts";
import { DisplayName } from "#contract/names/display-names.ts";
import { NamedHandle } from "#contract/names/handles.ts";
import { Phone } from "#contract/phone/phone.ts";
import { Factor, Identity } from "./auth.ts";
import { Passkey } from "./factors.ts";
import { codeChallengeMethods } from "./sign-in.ts";

/** Security settings of an account, as shown on the security page. Times in epoch milliseconds. */

export const SignedInDevice = v.object({
  id: Uuid,
  /** Browser and system, e.g. "Chrome · Android". Empty if neither is known. */
  device: v.string(),
  created_at: v.number(),
  /** Last renewal of the session; the device may have been in use up to ten minutes later. */
  used_at: v.number(),
  current: v.boolean(),
});
export type SignedInDevice = v.InferOutput<typeof SignedInDevice>;

export const Provider = v.object({ id: v.string(), name: v.string() });
export type Provider = v.InferOutput<typeof Provider>;

/** Pending reset of the second factor at `due_at`, unless a signed-in session cancels it. */
export const FactorReset = v.object({ started_at: v.number(), due_at: v.number() });
export type FactorReset = v.InferOutput<typeof FactorReset>;

export const Security = v.object({
  factors: v.array(Factor),
  passkeys: v.array(Passkey),
  passkey_second_step: v.boolean(),
  /** Number of unused codes, null if none were ever created. */
  recovery_codes: v.nullable(v.number()),
  email: v.nullable(v.string()),
  /** Address that was mailed a code and is not confirmed. */
  pending_email: v.nullable(v.string()),
  identities: v.array(Identity),
  providers: v.array(Provider),
  devices: v.array(SignedInDevice),
  reset: v.nullable(FactorReset),
  /** Time until which security settings may be changed without reauthentication. */
  proof_until: v.nullable(v.number()),
});
export type Security = v.InferOutput<typeof Security>;

// Recovery

export const Email = v.pipe(v.string(), v.trim(), v.toLowerCase(), v.maxLength(emailMaxLength), v.email());

const codeChallenge = {
  code_challenge: v.optional(v.nullable(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/)))),
  code_challenge_method: v.optional(v.nullable(v.picklist(codeChallengeMethods))),
};

/** SPEC.md §7. */
export const Recover = v.object({
  email: Email,
  ...codeChallenge,
  gotrue_meta_security: v.optional(v.object({ captcha_token: v.optional(v.pipe(v.string(), v.maxLength(4_096))) })),
});
export type Recover = v.InferInput<typeof Recover>;

/** Recovery without a mail address, by a recovery code instead of the password. */
export const RecoverByCode = v.object({
  /** Number, or handle with its "@". */
  phone: v.union([Phone, NamedHandle]),
  code: v.pipe(v.string(), v.maxLength(64)),
  gotrue_meta_security: v.optional(v.object({ captcha_token: v.optional(v.pipe(v.string(), v.maxLength(4_096))) })),
});
export type RecoverByCode = v.InferInput<typeof RecoverByCode>;

export const mailedTypes = ["recovery", "email_change"] as const;
/** Content of a mail: the token of the link, or the typed code with the address. */
export const Verify = v.object({
  type: v.picklist(mailedTypes),
  token_hash: v.optional(v.pipe(v.string(), v.maxLength(128))),
  email: v.optional(Email),
  token: v.optional(v.pipe(v.string(), v.maxLength(128))),
});
export type Verify = v.InferInput<typeof Verify>;

/** Mail requested by another program with PKCE. `redirect_to` is that program's address from the link. */
export const VerifyOnward = v.object({
  token_hash: v.pipe(v.string(), v.maxLength(128)),
  redirect_to: v.pipe(v.string(), v.maxLength(2_048)),
});
export type VerifyOnward = v.InferInput<typeof VerifyOnward>;
export const OnwardAddress = v.object({ url: v.pipe(v.string(), v.url(), v.regex(/^https?:/)) });

/** GoTrue's `PUT /user`: new password, recovery address ("" removes it) or name. */
export const UserChange = v.object({
  password: v.optional(v.string()), // checked by the route, which answers "weak_password"
  email: v.optional(v.union([v.literal(""), Email])),
  data: v.optional(v.strictObject({ username: v.optional(DisplayName) })), // no other user data is stored
  phone: v.optional(v.never()), // cannot be changed
  ...codeChallenge,
});
export type UserChange = v.InferInput<typeof UserChange>;
