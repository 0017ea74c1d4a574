import { eq, inArray, lt, sql } from "drizzle-orm";
import type { Uuid } from "../../contract/ids";
import { sessionIdleDays } from "../../contract/limits";
import type { Db } from "../db/client";
import { deleted_sessions, deletions, profiles, rate_limits, sessions, users } from "../db/schema";
import { bucketsOf, bucketsOfPhone } from "../lib/rate-limit";
import { queueFarewell } from "../lib/relation-delivery";

const dayMs = 86_400_000;
const resumedAtOnce = 50;

/** Whether there is such an account. One that was named by a token of ours, and is not there, is deleted. */
export const isAccount = async (db: Db, id: Uuid): Promise<boolean> =>
  (await db.select({ id: users.id }).from(users).where(eq(users.id, id)).get()) !== undefined;

/**
 * The account is gone, in one transaction: nobody signs in any more, its number is free, and whoever has its profile is
 * yet to be told. What hangs on `users` goes with it. False when there was none.
 */
export const beginDeletion = async (db: Db, me: Uuid, now = Date.now()): Promise<boolean> => {
  const own = await db.select({ phone: users.phone }).from(users).where(eq(users.id, me)).get();
  if (!own) return false;
  await db.batch([
    db.insert(deletions).select(sql`SELECT id, ${now} FROM users WHERE id = ${me}`).onConflictDoNothing(),
    db
      .insert(deleted_sessions)
      .select(sql`SELECT id, ${now} FROM ${sessions} WHERE user_id = ${me}`)
      .onConflictDoNothing(),
    queueFarewell(db, me),
    db.delete(rate_limits).where(bucketsOfPhone(own.phone)),
    // Not left to the cascade: its trigger takes the number out of the search.
    db.delete(profiles).where(eq(profiles.id, me)),
    db.delete(users).where(eq(users.id, me)),
  ]);
  return true;
};

/** When a deletion began that is not done yet. */
export const findDeletion = async (db: Db, user: Uuid): Promise<number | undefined> =>
  (await db.select({ at: deletions.started_at }).from(deletions).where(eq(deletions.user_id, user)).get())?.at;

/** Those that were begun longest ago. */
export const listDeletions = async (db: Db): Promise<Uuid[]> => {
  const rows = await db
    .select({ user: deletions.user_id })
    .from(deletions)
    .orderBy(deletions.started_at)
    .limit(resumedAtOnce);
  return rows.map(({ user }) => user);
};

export const endDeletion = async (db: Db, user: Uuid): Promise<void> => {
  await db.delete(deletions).where(eq(deletions.user_id, user));
};

/** Whether a session was one of an account that is deleted. */
export const wasDeletedWith = async (db: Db, session: Uuid): Promise<boolean> =>
  (await db
    .select({ id: deleted_sessions.id })
    .from(deleted_sessions)
    .where(eq(deleted_sessions.id, session))
    .get()) !== undefined;

/** No device comes with a session that is older than it may get. */
export const forgetDeletedSessions = async (db: Db, now: number): Promise<void> => {
  await db.delete(deleted_sessions).where(lt(deleted_sessions.deleted_at, now - sessionIdleDays * dayMs));
};

export const forgetBuckets = async (db: Db, user: Uuid): Promise<void> => {
  await db.delete(rate_limits).where(inArray(rate_limits.key, bucketsOf(user)));
};
