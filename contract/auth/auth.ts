import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";

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
