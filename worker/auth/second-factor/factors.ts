import { and, count, eq, gt, lt, sql } from "drizzle-orm";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { factorsMax } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { ceremonies, factors } from "#worker/db/security-schema.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { sealSecret, unsealSecret } from "./secret-box.ts";
import { createTotpSecret } from "./totp.ts";

export type FactorRow = typeof factors.$inferSelect;

const toSealOwner = ({ id, user_id }: Pick<FactorRow, "id" | "user_id">): string => `${user_id} ${id}`;

/** Decrypts the TOTP secret of a code app. A secret under the old key is encrypted again with the new one. */
export const unsealTotpSecret = async (env: Env, db: Db, factor: FactorRow): Promise<Uint8Array<ArrayBuffer>> => {
  const { secret, isOutdated } = await unsealSecret(env, toSealOwner(factor), factor.secret);
  if (!isOutdated) return secret;
  await db
    .update(factors)
    .set({ secret: await sealSecret(env, toSealOwner(factor), secret) })
    .where(and(eq(factors.id, factor.id), eq(factors.secret, factor.secret)));
  return secret;
};

/** TOTP secret of a code app, encrypted again with the newest key. */
export const resealTotpSecret = async (env: Env, factor: FactorRow): Promise<string> =>
  sealSecret(env, toSealOwner(factor), (await unsealSecret(env, toSealOwner(factor), factor.secret)).secret);

/**
 * Inserts an unverified code app, which becomes active with its first correct code. Replaces an earlier unverified one.
 * Returns undefined if the person has `factorsMax` active code apps.
 */
export const insertFactor = async (env: Env, db: Db, user: Uuid, name: string | undefined) => {
  const now = Date.now();
  const [verified] = await db
    .select({ n: count() })
    .from(factors)
    .where(and(eq(factors.user_id, user), eq(factors.is_verified, true)));
  const verifiedCount = verified?.n ?? 0;
  if (verifiedCount >= factorsMax) return undefined;
  const ids = { id: createUuid(now), user_id: user };
  const secret = createTotpSecret();
  const friendly_name = name || `TOTP ${verifiedCount + 1}`;
  await db.batch([
    db.delete(factors).where(and(eq(factors.user_id, user), eq(factors.is_verified, false))),
    db.insert(factors).values({
      ...ids,
      friendly_name,
      secret: await sealSecret(env, toSealOwner(ids), secret),
      created_at: now,
      updated_at: now,
    }),
  ]);
  return { id: ids.id, friendly_name, secret };
};

/** Finds a code app of this person that may be used in this session: in a pending session only a verified one. */
export const findFactor = async (
  db: Db,
  { user, session }: Caller,
  id: Uuid,
): Promise<(FactorRow & { awaits: boolean }) | undefined> => {
  const found = await db
    .select({ factor: factors, awaits: sessions.awaits })
    .from(factors)
    .innerJoin(sessions, eq(sessions.id, session))
    .where(and(eq(factors.id, id), eq(factors.user_id, user)))
    .get();
  return found && (found.factor.is_verified || !found.awaits) ? { ...found.factor, awaits: found.awaits } : undefined;
};

const matchesChallenge = ({ user, session }: Caller, factor: Uuid, challenge: Uuid) =>
  and(
    eq(ceremonies.id, challenge),
    eq(ceremonies.kind, "totp"),
    eq(ceremonies.user_id, user),
    eq(ceremonies.session_id, session),
    eq(ceremonies.factor_id, factor),
  );

/** Tests whether this session has an open challenge for this code app. */
export const hasOpenChallenge = async (db: Db, caller: Caller, factor: Uuid, challenge: Uuid): Promise<boolean> =>
  (await db
    .select({ id: ceremonies.id })
    .from(ceremonies)
    .where(and(matchesChallenge(caller, factor, challenge), gt(ceremonies.expires_at, Date.now())))
    .get()) !== undefined;

/**
 * Consumes a code and all codes of earlier time steps; of several concurrent callers exactly one succeeds. The first
 * correct code activates the code app. The challenge is deleted too.
 */
export const redeemTotpStep = async (db: Db, caller: Caller, factor: FactorRow, challenge: Uuid, step: number) => {
  const [used] = await db.batch([
    db
      .update(factors)
      .set({ last_step: step, is_verified: true, updated_at: sql`iif(is_verified, updated_at, ${Date.now()})` })
      .where(and(eq(factors.id, factor.id), lt(factors.last_step, step), eq(factors.is_verified, factor.is_verified)))
      .returning({ id: factors.id }),
    db.delete(ceremonies).where(matchesChallenge(caller, factor.id, challenge)),
  ]);
  return used.length === 1;
};

export const deleteFactor = async (db: Db, id: Uuid): Promise<boolean> =>
  (await db.delete(factors).where(eq(factors.id, id)).returning({ id: factors.id })).length === 1;
