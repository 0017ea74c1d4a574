import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { passwordMaxLength, passwordMinLength } from "#contract/limits.ts";
import { Phone, TypedPhone } from "#contract/phone.ts";
import { DisplayName } from "#contract/text.ts";

/** SPEC.md §5: at least 6 characters, one upper-case letter, one digit. Stored as typed, never trimmed. */
export const isAcceptablePassword = (password: string): boolean =>
  password.length >= passwordMinLength &&
  password.length <= passwordMaxLength &&
  /\p{Lu}/u.test(password) &&
  /\p{Nd}/u.test(password);

/** Parameter names of the public GoTrue API; `captcha_token` carries the solved proof of work. */
const CaptchaMeta = v.optional(v.object({ captcha_token: v.optional(v.pipe(v.string(), v.maxLength(4_096))) }));

export const SignUp = v.object({
  phone: Phone,
  password: v.pipe(v.string(), v.check(isAcceptablePassword, "weak_password")),
  data: v.optional(v.object({ username: v.optional(DisplayName) })),
  /** Proof of a provider sign-in (`phone_needed`): the new account is linked to that identity. */
  identity: v.optional(
    v.object({ auth_code: v.pipe(v.string(), v.maxLength(128)), code_verifier: v.pipe(v.string(), v.maxLength(256)) }),
  ),
  gotrue_meta_security: CaptchaMeta,
});
export type SignUp = v.InferInput<typeof SignUp>;

export const PasswordGrant = v.object({
  phone: TypedPhone,
  password: v.pipe(v.string(), v.minLength(1), v.maxLength(passwordMaxLength * 4)),
  gotrue_meta_security: CaptchaMeta,
});
export type PasswordGrant = v.InferInput<typeof PasswordGrant>;

/** Empty from the browser app, whose refresh token travels in a cookie. */
export const RefreshGrant = v.object({ refresh_token: v.optional(v.pipe(v.string(), v.maxLength(256))) });
export type RefreshGrant = v.InferInput<typeof RefreshGrant>;

/** Second factors that a person can present after the password. */
const secondSteps = ["totp", "passkey", "recovery_code"] as const;
export type SecondStep = (typeof secondSteps)[number];

/** TOTP factor in the form of the public GoTrue API. `unverified` until its first correct code. */
export const Factor = v.object({
  id: Uuid,
  friendly_name: v.string(),
  factor_type: v.literal("totp"),
  status: v.picklist(["verified", "unverified"]),
  created_at: v.string(),
  updated_at: v.string(),
});
export type Factor = v.InferOutput<typeof Factor>;

/** Account at another provider that can sign in to this one. */
export const Identity = v.object({
  id: Uuid, // GoTrue clients read both names
  identity_id: Uuid,
  user_id: Uuid,
  provider: v.string(),
  identity_data: v.object({ sub: v.string(), email: v.optional(v.string()), name: v.optional(v.string()) }),
  created_at: v.string(),
  last_sign_in_at: v.string(),
});
export type Identity = v.InferOutput<typeof Identity>;

export const AuthUser = v.object({
  id: Uuid,
  aud: v.literal("authenticated"),
  role: v.literal("authenticated"),
  phone: v.string(),
  /** Confirmed recovery address, if any. */
  email: v.optional(v.string()),
  factors: v.optional(v.array(Factor)),
  identities: v.optional(v.array(Identity)),
  created_at: v.string(),
  updated_at: v.string(),
  user_metadata: v.object({ username: v.optional(v.string()) }),
  app_metadata: v.object({ provider: v.string(), providers: v.array(v.string()) }),
});
export type AuthUser = v.InferOutput<typeof AuthUser>;

/**
 * A session as the public GoTrue API returns it. For the browser app (`x-session-transport: cookie`) both
 * tokens are empty strings: the real ones are in cookies that no script can read.
 */
export const Session = v.object({
  access_token: v.string(),
  refresh_token: v.string(),
  token_type: v.literal("bearer"),
  expires_in: v.number(),
  expires_at: v.number(), // seconds since 1970
  user: AuthUser,
  /** Present while the session still needs one of these second factors and may do nothing else. */
  awaits: v.optional(v.array(v.picklist(secondSteps))),
});
export type Session = v.InferOutput<typeof Session>;

export const sessionTransportHeader = "x-session-transport";
/** User a request is made for. It fails if the browser's cookies belong to another person by now. */
export const personHeader = "x-person";
/** The same as a parameter of the socket URL, because browsers cannot set headers there. */
export const personQuery = "person";
const signOutScopes = ["global", "local", "others"] as const;

export const SignOut = v.object({ scope: v.optional(v.picklist(signOutScopes), "global") });
export const grantTypes = ["password", "refresh_token", "pkce"] as const;

/**
 * Authorization code from a callback URL (`/callback`, `/verify`) with the verifier known only to the browser that
 * started the flow.
 */
export const PkceGrant = v.object({
  auth_code: v.pipe(v.string(), v.maxLength(128)),
  code_verifier: v.pipe(v.string(), v.maxLength(256)),
});
export type PkceGrant = v.InferInput<typeof PkceGrant>;

export const codeChallengeMethods = ["s256", "S256"] as const; // the method "plain" proves nothing

/**
 * Proof-of-work challenge for `altcha-lib` (v2 format). The solution is sent as `gotrue_meta_security.captcha_token`:
 * base64 of the JSON `{challenge, solution}`.
 */
export const Challenge = v.object({
  parameters: v.object({
    algorithm: v.string(),
    nonce: v.string(),
    salt: v.string(),
    cost: v.number(),
    keyLength: v.number(),
    keyPrefix: v.string(),
    keySignature: v.optional(v.string()),
    expiresAt: v.optional(v.number()), // seconds since 1970
    // returned unchanged
    data: v.optional(v.record(v.string(), v.nullable(v.union([v.string(), v.number(), v.boolean()])))),
  }),
  signature: v.string(),
});
export type Challenge = v.InferOutput<typeof Challenge>;
