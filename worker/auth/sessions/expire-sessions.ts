import { inArray, sql } from "drizzle-orm";
import { pendingSecondFactorMinutes, sessionAbsoluteDays, sessionIdleDays } from "#contract/limits/authentication.ts";
import { dayMs, minuteMs } from "#contract/limits/durations.ts";
import { openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { closeSockets } from "./close-sockets.ts";

const sessionsPerRun = 500;

/**
 * Ends sessions that can no longer be renewed and closes their sockets, so that an open socket does not outlive its
 * session. Scans the whole table, 30 ms for 300,000 sessions: an index on `refreshed_at` would be written with every
 * renewal, and a written row costs as much as a thousand read ones.
 */
export const expireSessions = async (env: Env, now: number): Promise<void> => {
  const expired = sql`(SELECT id FROM sessions WHERE refreshed_at < ${now - sessionIdleDays * dayMs}
    OR created_at < ${now - sessionAbsoluteDays * dayMs}
    OR (awaits = 1 AND created_at < ${now - pendingSecondFactorMinutes * minuteMs}) LIMIT ${sessionsPerRun})`;
  const ended = await openDb(env)
    .delete(sessions)
    .where(inArray(sessions.id, expired))
    .returning({ id: sessions.id, user: sessions.user_id });
  for (const [user, rows] of Map.groupBy(ended, (row) => row.user)) {
    await closeSockets(
      env,
      user,
      rows.map(({ id }) => id),
    );
  }
};
