import { and, eq, isNull, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import type { Db } from "#worker/db/client.ts";
import { recordEndedSessions } from "#worker/db/ended-sessions.ts";
import { deletions, handles, profiles, rate_limits, sessions, users } from "#worker/db/schema.ts";
import { ownNumber } from "#worker/lib/absent-number.ts";
import { queueAccountDeleted } from "#worker/lib/contact-updates.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { isPhoneBucket } from "#worker/lib/limits/rate-limit.ts";

/** SQL: another account signs in by this number, too. */
const isSharedNumber = (me: Uuid, phone: string) =>
  sql`(EXISTS (SELECT 1 FROM users WHERE phone = ${phone} AND id <> ${me})
    OR EXISTS (SELECT 1 FROM number_claims WHERE phone = ${phone} AND user_id <> ${me}))`;

/**
 * Deletes the account in one transaction: sign-in stops, the phone number becomes free, and everybody who has the
 * profile is queued for an update. Rows that reference `users` go by cascade. Does nothing if the account is already
 * deleted.
 */
export const startAccountDeletion = async (env: Env, db: Db, me: Uuid, now = Date.now()): Promise<void> => {
  const account = await db.select({ phone: ownNumber }).from(profiles).where(eq(profiles.id, me)).get();
  if (!account) return;
  await db.batch([
    db.insert(deletions).select(sql`SELECT id, ${now} FROM users WHERE id = ${me}`).onConflictDoNothing(),
    recordEndedSessions(db, eq(sessions.user_id, me), "account_deleted", now),
    queueAccountDeleted(db, me),
    // Nobody else appears under this handle while it is remembered.
    db
      .update(handles)
      .set({ released_at: now })
      .where(and(eq(handles.user_id, me), isNull(handles.released_at))),
    // Limits that protect other accounts of the number stay: one can be made and deleted to guess their passwords.
    db
      .delete(rate_limits)
      .where(and(isPhoneBucket(hashLimitKey(env, account.phone)), sql`NOT ${isSharedNumber(me, account.phone)}`)),
    // Deleted explicitly, not by the cascade, so that the trigger that removes the number from the search index runs.
    db.delete(profiles).where(eq(profiles.id, me)),
    db.delete(users).where(eq(users.id, me)),
  ]);
};
