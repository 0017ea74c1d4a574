import { and, desc, eq, isNull, ne, sql } from "drizzle-orm";
import type { AuthUser, Factor, Identity } from "#contract/auth/auth.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { findNamedHandle } from "#contract/names/handles.ts";
import { toSkeleton } from "#contract/names/skeleton.ts";
import type { Db } from "#worker/db/client.ts";
import { handles, number_claims, profiles, users } from "#worker/db/schema.ts";
import { account_security, auth_codes, factors, identities } from "#worker/db/security-schema.ts";
import { createAbsentNumber, ownNumber } from "#worker/lib/absent-number.ts";
import { queueProfileChange } from "#worker/lib/contact-updates.ts";
import { type RateLimitResult, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { createIdentityRow, type UnlinkedIdentity } from "./providers/identities.ts";

type UserColumns = Pick<typeof users.$inferSelect, "id" | "phone" | "created_at" | "updated_at"> & { username: string };
/** With e-mail, code apps and linked identities. */
export type UserAccount = UserColumns & { email: string | null; factors: Factor[]; identities: Identity[] };

const toIso = (ms: number): string => new Date(ms).toISOString();

export const toFactor = (row: typeof factors.$inferSelect): Factor => ({
  id: row.id,
  friendly_name: row.friendly_name,
  factor_type: "totp",
  status: row.is_verified ? "verified" : "unverified",
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
});

export const toIdentity = (row: typeof identities.$inferSelect): Identity => ({
  id: row.id,
  identity_id: row.id,
  user_id: row.user_id,
  provider: row.provider,
  identity_data: {
    sub: row.subject,
    ...(row.email === null ? {} : { email: row.email }),
    ...(row.name === null ? {} : { name: row.name }),
  },
  created_at: toIso(row.created_at),
  last_sign_in_at: toIso(row.used_at),
});

export const toAuthUser = ({ email, factors, identities, ...user }: UserAccount): AuthUser => ({
  id: user.id,
  aud: "authenticated",
  role: "authenticated",
  phone: user.phone,
  created_at: new Date(user.created_at).toISOString(),
  updated_at: new Date(user.updated_at).toISOString(),
  user_metadata: { username: user.username },
  app_metadata: { provider: "phone", providers: ["phone", ...new Set(identities.map(({ provider }) => provider))] },
  ...(email === null ? {} : { email }),
  factors,
  identities,
});

/**
 * User of a pending session: only what the second factor needs, with generic names of the code apps. A holder of the
 * password alone must not learn which mailbox or provider to attack next.
 */
export const toPendingUser = ({ id, created_at, factors }: UserAccount): AuthUser => ({
  id,
  aud: "authenticated",
  role: "authenticated",
  phone: "",
  created_at: toIso(created_at),
  updated_at: toIso(created_at),
  user_metadata: {},
  app_metadata: { provider: "phone", providers: ["phone"] },
  factors: factors
    .filter(({ status }) => status === "verified")
    .map((factor, n) => ({
      ...factor,
      friendly_name: `TOTP ${n + 1}`,
      created_at: toIso(created_at),
      updated_at: toIso(created_at),
    })),
});

const userColumns = {
  id: users.id,
  phone: ownNumber,
  created_at: users.created_at,
  updated_at: users.updated_at,
  username: profiles.username,
};

export const findAccount = async (db: Db, id: Uuid): Promise<UserAccount | undefined> => {
  const [[user], apps, linked, [security]] = await db.batch([
    db.select(userColumns).from(users).innerJoin(profiles, eq(profiles.id, users.id)).where(eq(users.id, id)),
    db.select().from(factors).where(eq(factors.user_id, id)).orderBy(factors.created_at),
    db.select().from(identities).where(eq(identities.user_id, id)).orderBy(identities.created_at),
    db.select({ email: account_security.email }).from(account_security).where(eq(account_security.user_id, id)),
  ]);
  return (
    user && {
      ...user,
      email: security?.email ?? null,
      factors: apps.map(toFactor),
      identities: linked.map(toIdentity),
    }
  );
};

export type PasswordCredentials = { id: Uuid; password_hash: string };

const credentialColumns = { id: users.id, password_hash: users.password_hash };

const listCredentialsByHandle = (db: Db, handle: string): Promise<PasswordCredentials[]> => {
  const owner = db
    .select({ id: handles.user_id })
    .from(handles)
    .where(and(eq(handles.skeleton, toSkeleton(handle)), isNull(handles.released_at)));
  return db
    .select(credentialColumns)
    .from(users)
    .innerJoin(profiles, eq(profiles.id, users.id))
    .where(and(sql`${users.id} = (${owner})`, eq(profiles.handle, handle)));
};

/**
 * Accounts that sign in by a phone number, or by a handle with its "@", with their password hashes: the number's holder
 * first, then those who lost it, then the newest accounts that claim it. A handle matches exactly. Many can claim a
 * number: see `passwordsOfSignIn`.
 */
export const listCredentials = async (db: Db, phone: string): Promise<PasswordCredentials[]> => {
  const handle = findNamedHandle(phone);
  if (handle !== undefined) return listCredentialsByHandle(db, handle);
  const [holders, claimants] = await db.batch([
    db.select(credentialColumns).from(users).where(eq(users.phone, phone)),
    db
      .select(credentialColumns)
      .from(number_claims)
      .innerJoin(users, eq(users.id, number_claims.user_id))
      .where(and(eq(number_claims.phone, phone), ne(users.phone, number_claims.phone)))
      .orderBy(desc(number_claims.is_former), desc(number_claims.created_at))
      .limit(claimantsRead),
  ]);
  return [...holders, ...claimants];
};

/** Credentials of the signed-in caller, for reauthentication. */
export const findOwnCredentials = (db: Db, id: Uuid): Promise<{ password_hash: string } | undefined> =>
  db.select({ password_hash: users.password_hash }).from(users).where(eq(users.id, id)).get();

export const isPhoneTaken = async (db: Db, phone: string): Promise<boolean> =>
  (await db.select({ id: users.id }).from(users).where(eq(users.phone, phone)).get()) !== undefined;

/** Replaces a hash by a new hash of the same password, unless the password was changed meanwhile. */
export const updatePasswordHash = async (db: Db, id: Uuid, from: string, to: string): Promise<void> => {
  const same = and(eq(users.id, id), eq(users.password_hash, from));
  await db.update(users).set({ password_hash: to, updated_at: Date.now() }).where(same);
};

/**
 * Accounts of one number whose passwords a sign-in compares, because each costs a hash: its holder and two that lost or
 * claim it. The others sign in on devices that know them, by a recovery code or by their handle.
 */
export const passwordsOfSignIn = 3;
/** More than anybody creates in order to hide another account that claims the number. */
const claimantsRead = 100;

/** Username of people who gave none (SPEC.md §2, Tala). */
const defaultUsername = "Utilisateur";

/**
 * Changes a person's name, by whichever route, as often as its limit allows, and queues the update for everybody who
 * has their profile.
 */
export const updateUsername = async (db: Db, me: Uuid, username: string): Promise<RateLimitResult> => {
  const taken = await takeToken(db, me, "profile_change_by_user");
  if (taken.ok)
    await db.batch([db.update(profiles).set({ username }).where(eq(profiles.id, me)), queueProfileChange(db, me)]);
  return taken;
};

type NewUser = {
  phone: string;
  username: string | undefined;
  password_hash: string;
  /** Identity at a provider that is linked from the start. */
  identity?: UnlinkedIdentity | undefined;
  /** Numbers can be verified here: the account is created even if somebody holds the number, and claims it. */
  isClaim?: boolean;
};

/**
 * Inserts an account with its profile. Returns undefined if the identity or, unless it is only claimed, the phone was
 * taken meanwhile. A claim costs the same statements and rows whether or not somebody holds the number.
 */
export const insertUser = async (
  db: Db,
  { phone, username, password_hash, identity: providerIdentity, isClaim = false }: NewUser,
): Promise<UserAccount | undefined> => {
  const now = Date.now();
  const user = { id: createUuid(now), phone, created_at: now, updated_at: now };
  // The default is not the phone number, which the public feed would reveal.
  const profile = { id: user.id, username: username ?? defaultUsername, phone, created_at: now };
  const identity = providerIdentity && createIdentityRow(user.id, providerIdentity, now);
  const isHeld = sql`EXISTS (SELECT 1 FROM users WHERE phone = ${phone})`;
  const stored = isClaim
    ? sql<string>`CASE WHEN ${isHeld} THEN ${createAbsentNumber(user.id)} ELSE ${phone} END`
    : phone;
  const claim = { user_id: user.id, phone, created_at: now };
  try {
    await db.batch([
      db.insert(users).values({ ...user, phone: stored, password_hash }),
      db
        .insert(profiles)
        .values({ ...profile, phone: isClaim ? sql`(SELECT phone FROM users WHERE id = ${user.id})` : phone }),
      ...(isClaim ? [db.insert(number_claims).values(claim)] : []),
      ...(identity ? [db.insert(identities).values(identity)] : []),
      ...(providerIdentity ? [db.delete(auth_codes).where(eq(auth_codes.hash, providerIdentity.codeHash))] : []),
    ]);
  } catch (error) {
    if (isUniqueConflict(error)) return undefined;
    throw error;
  }
  return {
    ...user,
    username: profile.username,
    email: null,
    factors: [],
    identities: identity ? [toIdentity(identity)] : [],
  };
};

const isUniqueConflict = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (/UNIQUE constraint failed: ((users|profiles)\.phone|identities\.provider)/.test(at.message)) return true;
  }
  return false;
};
