import { eq, lt } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { sessionIdleDays } from "#contract/limits.ts";
import type { Db } from "./client.ts";
import { deleted_sessions, deletions, users } from "./schema.ts";

/** Deleted accounts, as far as the directory has still to know of them. */

const dayMs = 86_400_000;
const resumedPerRun = 50;

/** Whether there is such an account. One that was named by a token of ours, and is not there, is deleted. */
export const hasAccount = async (db: Db, id: Uuid): Promise<boolean> =>
  (await db.select({ id: users.id }).from(users).where(eq(users.id, id)).get()) !== undefined;

/** When a deletion began that is not done yet. */
export const findDeletionStart = async (db: Db, user: Uuid): Promise<number | undefined> =>
  (await db.select({ at: deletions.started_at }).from(deletions).where(eq(deletions.user_id, user)).get())?.at;

/** Those that were begun longest ago. */
export const listUnfinishedDeletions = async (db: Db): Promise<Uuid[]> => {
  const rows = await db
    .select({ user: deletions.user_id })
    .from(deletions)
    .orderBy(deletions.started_at)
    .limit(resumedPerRun);
  return rows.map(({ user }) => user);
};

export const deleteDeletionRecord = async (db: Db, user: Uuid): Promise<void> => {
  await db.delete(deletions).where(eq(deletions.user_id, user));
};

/** Whether a session was one of an account that is deleted. */
export const isSessionOfDeletedAccount = async (db: Db, session: Uuid): Promise<boolean> => {
  const found = db.select({ id: deleted_sessions.id }).from(deleted_sessions).where(eq(deleted_sessions.id, session));
  return (await found.get()) !== undefined;
};

/** No device comes with a session that is older than it may get. */
export const purgeDeletedSessions = async (db: Db, now: number): Promise<void> => {
  await db.delete(deleted_sessions).where(lt(deleted_sessions.deleted_at, now - sessionIdleDays * dayMs));
};
