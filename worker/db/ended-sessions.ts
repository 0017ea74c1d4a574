import { eq, lt, type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { sessionAbsoluteDays } from "#contract/limits/authentication.ts";
import { dayMs } from "#contract/limits/durations.ts";
import type { Db } from "./client.ts";
import { ended_sessions, sessions } from "./schema.ts";

/** Records of sessions whose devices are told why they ended (docs/decisions/ended-sessions.md). */

type SessionEnd = (typeof ended_sessions.$inferSelect)["cause"];

/** Statement that records the end of the sessions that match a condition, for the batch that deletes them. */
export const recordEndedSessions = (db: Db, condition: SQL | undefined, cause: SessionEnd, now: number) =>
  db
    .insert(ended_sessions)
    .select(sql`SELECT id, ${now}, ${cause} FROM ${sessions} WHERE ${condition}`)
    .onConflictDoNothing();

/** Why a session ended, if its person ended it from elsewhere or with the account. */
export const findSessionEnd = async (db: Db, session: Uuid): Promise<SessionEnd | undefined> =>
  (await db.select({ cause: ended_sessions.cause }).from(ended_sessions).where(eq(ended_sessions.id, session)).get())
    ?.cause;

/** Purges the records of sessions that would have expired in the meantime. */
export const purgeEndedSessions = async (db: Db, now: number): Promise<void> => {
  await db.delete(ended_sessions).where(lt(ended_sessions.ended_at, now - sessionAbsoluteDays * dayMs));
};
