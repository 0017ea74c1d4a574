import { and, count, eq, ne, type SQL, sql } from "drizzle-orm";
import { createMiddleware } from "hono/factory";
import type { SecondStep } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions, users } from "#worker/db/schema.ts";
import { factors, passkeys, recovery_codes } from "#worker/db/security-schema.ts";
import type { Assurance } from "#worker/lib/http/access-token.ts";
import type { AppEnv, Caller } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { deletePendingChanges } from "./pending-changes.ts";
import { findReauthenticationExpiry } from "./reauthentication.ts";

/**
 * Authentication method. Every method except `SecondStep` can start a session. Presenting any of them again
 * reauthenticates.
 */
export type AuthMethod = "password" | "passkey" | "oauth" | "recovery" | SecondStep;

/** Second factors of an account, and whether one is required at sign-in. */
export type SecondFactors = { isRequired: boolean; available: SecondStep[] };

/**
 * SQL: whether a second factor is required. A verified code app always requires one; passkeys do if the person turned
 * that on.
 */
export const isSecondFactorRequired = (user: Uuid): SQL<number> =>
  sql`(EXISTS (SELECT 1 FROM factors WHERE user_id = ${user} AND is_verified = 1)
    OR EXISTS (SELECT 1 FROM account_security JOIN passkeys USING (user_id) WHERE user_id = ${user} AND passkey_step = 1))`;

/**
 * Second factors of an account. Any available one is accepted: also a passkey where only a code app requires it, and a
 * recovery code for either.
 */
export const findSecondFactors = async (db: Db, user: Uuid): Promise<SecondFactors> => {
  const [[codeApps], [keys], [codes], [requirement]] = await db.batch([
    db
      .select({ n: count() })
      .from(factors)
      .where(and(eq(factors.user_id, user), eq(factors.is_verified, true))),
    db.select({ n: count() }).from(passkeys).where(eq(passkeys.user_id, user)),
    db.select({ n: count() }).from(recovery_codes).where(eq(recovery_codes.user_id, user)),
    db
      .select({ isRequired: isSecondFactorRequired(user) })
      .from(users)
      .where(eq(users.id, user)),
  ]);
  const [hasApps, hasKeys, hasCodes] = [codeApps, keys, codes].map((found) => (found?.n ?? 0) > 0);
  return {
    isRequired: requirement?.isRequired === 1,
    available: [
      ...(hasApps ? (["totp"] as const) : []),
      ...(hasKeys ? (["passkey"] as const) : []),
      ...(hasCodes ? (["recovery_code"] as const) : []),
    ],
  };
};

/** Tests whether these methods satisfy a required second factor. A passkey alone counts as two factors. */
export const isSecondFactorSatisfied = (methods: string): boolean => {
  const presented = methods.split(" ");
  return presented.includes("passkey") || presented.length > 1;
};

/** Second factors that a session with these methods must still present; undefined if none is required. */
export const findMissingSteps = (
  methods: string,
  { isRequired, available }: SecondFactors,
): SecondStep[] | undefined =>
  // A recovery code that replaced the password cannot also be the second factor.
  isRequired && !isSecondFactorSatisfied(methods)
    ? available.filter((step) => !methods.split(" ").includes(step))
    : undefined;

/** Assurance level (`aal`) and methods (`amr`) in the form of the public GoTrue API. */
export const toAssurance = ({
  methods,
  proved_at,
  created_at,
}: Pick<typeof sessions.$inferSelect, "methods" | "proved_at" | "created_at">): Assurance => {
  const presented = methods.split(" ");
  const timestamp = Math.floor((proved_at || created_at) / 1_000);
  // A recovery code in the first place replaced the password.
  const hasTwoFactors =
    presented.includes("passkey") || presented.slice(1).some((method) => ["totp", "recovery_code"].includes(method));
  return {
    aal: hasTwoFactors ? "aal2" : "aal1",
    amr: presented.map((method) => ({ method, timestamp })).reverse(),
  };
};

/** Middleware that requires a recent reauthentication. Must follow `authenticate`. */
export const requireReauthentication = createMiddleware<AppEnv>(async (c, next) => {
  const end = await findReauthenticationExpiry(openDb(c.env), c.var.caller, Date.now());
  return end === null ? refuse(c, "reauthentication_needed") : next();
});

/**
 * Revokes the reauthentication of a person's other sessions and their pending changes, which were authorized without
 * the second factor that is now required. The sessions stay signed in.
 */
export const revokeOtherReauthentications = async (db: Db, { user, session }: Caller): Promise<void> => {
  await db.batch([
    db
      .update(sessions)
      .set({ proved_at: 0 })
      .where(and(eq(sessions.user_id, user), ne(sessions.id, session))),
    ...deletePendingChanges(db, user, session),
  ]);
};

/** SQL: adds a method to those of a session, once. */
export const appendMethod = (method: AuthMethod) =>
  sql`CASE WHEN ' ' || ${sessions.methods} || ' ' LIKE ${`% ${method} %`} THEN ${sessions.methods} ELSE ${sessions.methods} || ' ' || ${method} END`;
