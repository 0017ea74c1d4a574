import { eq, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import type { Db } from "./client.ts";
import { deletions, users } from "./schema.ts";

/** Records of deleted accounts in the directory. */

const resumedPerRun = 50;

/** Tests whether an account exists. An id from a token of this service without an account belongs to a deleted one. */
export const hasAccount = async (db: Db, id: Uuid): Promise<boolean> =>
  (await db.select({ id: users.id }).from(users).where(eq(users.id, id)).get()) !== undefined;

/** Start of a deletion that is not finished; undefined if there is none. */
export const findDeletionStart = async (db: Db, user: Uuid): Promise<number | undefined> =>
  (await db.select({ at: deletions.started_at }).from(deletions).where(eq(deletions.user_id, user)).get())?.at;

/**
 * Some of the users whose deletion is not finished, at random: each has its turn within some runs, also if many
 * deletions always fail.
 */
export const listUnfinishedDeletions = async (db: Db): Promise<Uuid[]> => {
  const rows = await db.select({ user: deletions.user_id }).from(deletions).orderBy(sql`random()`).limit(resumedPerRun);
  return rows.map(({ user }) => user);
};

export const deleteDeletionRecord = async (db: Db, user: Uuid): Promise<void> => {
  await db.delete(deletions).where(eq(deletions.user_id, user));
};
