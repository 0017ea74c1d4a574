import * as v from "valibot";
import { passwordMaxLength, passwordMinLength } from "#contract/limits/authentication.ts";
import { DisplayName } from "#contract/names/display-names.ts";
import { NamedHandle } from "#contract/names/handles.ts";
import { Phone } from "#contract/phone/phone.ts";

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
  /** Number, or handle with its "@". */
  phone: v.union([Phone, NamedHandle]),
  password: v.pipe(v.string(), v.minLength(1), v.maxLength(passwordMaxLength * 4)),
  gotrue_meta_security: CaptchaMeta,
});
export type PasswordGrant = v.InferInput<typeof PasswordGrant>;

/** Empty from the browser app, whose refresh token travels in a cookie. */
export const RefreshGrant = v.object({ refresh_token: v.optional(v.pipe(v.string(), v.maxLength(256))) });
export type RefreshGrant = v.InferInput<typeof RefreshGrant>;

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
