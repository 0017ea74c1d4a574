import { and, eq, lt, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Uuid } from "#contract/ids.ts";
import { pendingSecondFactorMinutes } from "#contract/limits/authentication.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { auth_codes, ceremonies, mailed_tokens, oauth_flows } from "#worker/db/security-schema.ts";
import { type AppContext, runAfterResponse } from "#worker/lib/http/app.ts";
import { purgeFullBuckets } from "#worker/lib/limits/rate-limit.ts";
import { purgeUsedChallenges } from "./proof-of-work.ts";

/** Deletes expired ceremonies, mailed tokens, OAuth flows and authorization codes, up to `atOnce` of each. */
export const purgeExpiredRows = async (db: Db, now = Date.now(), atOnce = 100): Promise<void> => {
  const expired = (table: SQLiteTable) =>
    db.delete(table).where(sql`rowid IN (SELECT rowid FROM ${table} WHERE expires_at < ${now} LIMIT ${atOnce})`);
  await db.batch([expired(ceremonies), expired(mailed_tokens), expired(oauth_flows), expired(auth_codes)]);
};

/** Deletes a person's pending sessions whose second factor was not shown in time. */
const purgeUnfinishedSignIns = async (db: Db, user: Uuid, now = Date.now()): Promise<void> => {
  const latest = now - pendingSecondFactorMinutes * 60_000;
  await db
    .delete(sessions)
    .where(and(eq(sessions.user_id, user), eq(sessions.awaits, true), lt(sessions.created_at, latest)));
};

/** Purges a few expired rows after each session start or renewal. */
export const purgeExpiredInBackground = (c: AppContext, user: Uuid): void => {
  const db = openDb(c.env);
  runAfterResponse(c.executionCtx, "purge full rate-limit buckets", purgeFullBuckets(db));
  runAfterResponse(c.executionCtx, "purge used challenges", purgeUsedChallenges(db));
  runAfterResponse(c.executionCtx, "purge expired rows", purgeExpiredRows(db));
  runAfterResponse(c.executionCtx, "purge unfinished sign-ins", purgeUnfinishedSignIns(db, user));
};
