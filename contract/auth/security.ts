import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { emailMaxLength } from "#contract/limits.ts";
import { TypedPhone } from "#contract/phone.ts";
import { DisplayName } from "#contract/text.ts";
import { codeChallengeMethods, Factor, Identity } from "./auth.ts";
import { Passkey } from "./factors.ts";

/** How one's account is kept: what the security page shows, in one answer. Times in epoch milliseconds. */

export const SignedInDevice = v.object({
  id: Uuid,
  /** Browser and system as they call themselves, in the form "Chrome · Android"; empty when neither is known. */
  device: v.string(),
  created_at: v.number(),
  /** When it last renewed its session: up to ten minutes ago it may be in use. */
  used_at: v.number(),
  current: v.boolean(),
});
export type SignedInDevice = v.InferOutput<typeof SignedInDevice>;

export const Provider = v.object({ id: v.string(), name: v.string() });
export type Provider = v.InferOutput<typeof Provider>;

/** The second step is taken away at `due_at`, unless somebody who is signed in says no. */
export const FactorReset = v.object({ started_at: v.number(), due_at: v.number() });
export type FactorReset = v.InferOutput<typeof FactorReset>;

export const Security = v.object({
  factors: v.array(Factor),
  passkeys: v.array(Passkey),
  passkey_second_step: v.boolean(),
  /** How many are left; null when there never were any. */
  recovery_codes: v.nullable(v.number()),
  email: v.nullable(v.string()),
  /** One that was mailed and has not been confirmed. */
  pending_email: v.nullable(v.string()),
  identities: v.array(Identity),
  providers: v.array(Provider),
  devices: v.array(SignedInDevice),
  reset: v.nullable(FactorReset),
  /** A password would be asked, or something of these, before one changes any of it. */
  proof_until: v.nullable(v.number()),
});
export type Security = v.InferOutput<typeof Security>;

/** What the other devices of a person are told of, the newest last. */
const securityEvents = [
  "signed_in",
  "session_reused", // a refresh token came twice: one of two holders is not the person
  "password_changed",
  "factor_added",
  "factor_removed",
  "passkey_added",
  "passkey_removed",
  "passkey_step_on",
  "passkey_step_off",
  "recovery_codes_made",
  "email_added",
  "email_changed",
  "email_removed",
  "identity_linked",
  "identity_unlinked",
  "reset_started",
  "reset_cancelled",
  "reset_done",
] as const;

export const SecurityNotice = v.object({
  id: Uuid,
  event: v.picklist(securityEvents),
  at: v.number(),
  /** The session that did it, which need not be told. */
  session: v.nullable(Uuid),
  device: v.string(),
  /** Of `reset_started`: when it takes effect. */
  due_at: v.optional(v.number()),
});
export type SecurityNotice = v.InferOutput<typeof SecurityNotice>;

/** Whether a notice tells of a reset of the second step that is still to come, as far as these notices know. */
export const isResetUnderWay = (notice: SecurityNotice, all: readonly SecurityNotice[], now: number): boolean => {
  if (notice.event !== "reset_started" || (notice.due_at ?? 0) <= now) return false;
  const isOver = ({ event, at }: SecurityNotice) =>
    at >= notice.at && (event === "reset_cancelled" || event === "reset_done");
  return !all.some(isOver);
};

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

/** Without an address: one of the recovery codes in the password's place. */
export const RecoverByCode = v.object({
  phone: TypedPhone,
  code: v.pipe(v.string(), v.maxLength(64)),
  gotrue_meta_security: v.optional(v.object({ captcha_token: v.optional(v.pipe(v.string(), v.maxLength(4_096))) })),
});
export type RecoverByCode = v.InferInput<typeof RecoverByCode>;

export const mailedTypes = ["recovery", "email_change"] as const;
/** What a mail brought: the whole link's token, or with the address the code one types. */
export const Verify = v.object({
  type: v.picklist(mailedTypes),
  token_hash: v.optional(v.pipe(v.string(), v.maxLength(128))),
  email: v.optional(Email),
  token: v.optional(v.pipe(v.string(), v.maxLength(128))),
});
export type Verify = v.InferInput<typeof Verify>;

/** A mail that another program asked for, by PKCE. `redirect_to` is the program's address, as the link names it. */
export const VerifyOnward = v.object({
  token_hash: v.pipe(v.string(), v.maxLength(128)),
  redirect_to: v.pipe(v.string(), v.maxLength(2_048)),
});
export type VerifyOnward = v.InferInput<typeof VerifyOnward>;
export const OnwardAddress = v.object({ url: v.pipe(v.string(), v.url(), v.regex(/^https?:/)) });

/** GoTrue's `PUT /user`: a new password, a new recovery address ("" removes it), a new name. */
export const UserChange = v.object({
  password: v.optional(v.string()), // judged by the route: "weak_password" is its own refusal
  email: v.optional(v.union([v.literal(""), Email])),
  data: v.optional(v.strictObject({ username: v.optional(DisplayName) })), // nothing else is kept of anybody
  phone: v.optional(v.never()), // cannot be changed
  ...codeChallenge,
});
export type UserChange = v.InferInput<typeof UserChange>;
