import { and, eq, isNotNull, isNull, lte, not, sql } from "drizzle-orm";
import type { FactorReset } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import {
  factorResetHours,
  factorResetPauseHours,
  factorResetPausesForgottenDays,
} from "#contract/limits/authentication.ts";
import { hourMs } from "#contract/limits/durations.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { account_security, factors, recovery_codes } from "#worker/db/security-schema.ts";
import type { AuthPreconditions } from "./preconditions.ts";

const waitMs = factorResetHours * hourMs;
const pausesForgottenMs = factorResetPausesForgottenDays * 24 * hourMs;

/** Column values that clear the pause after cancellations. */
export const clearedResetPause = { reset_stops: 0, reset_paused_until: 0 };

/** Dates of a requested removal of the second factor. */
export const toFactorReset = (started_at: number): FactorReset => ({ started_at, due_at: started_at + waitMs });

type FactorResetStart = (FactorReset & { ok: true; isNew: boolean }) | { ok: false; retryAfterMs: number };

/** Starts the waiting period, or returns the one that is running. Refused during the pause after a cancellation. */
export const startFactorReset = async (db: Db, user: Uuid): Promise<FactorResetStart> => {
  const now = Date.now();
  const [started] = await db
    .insert(account_security)
    .values({ user_id: user, reset_started_at: now })
    .onConflictDoUpdate({
      target: account_security.user_id,
      set: { reset_started_at: now },
      setWhere: and(isNull(account_security.reset_started_at), lte(account_security.reset_paused_until, now)),
    })
    .returning({ user_id: account_security.user_id });
  if (started) return { ok: true, ...toFactorReset(now), isNew: true };
  const row = await db
    .select({ at: account_security.reset_started_at, pausedUntil: account_security.reset_paused_until })
    .from(account_security)
    .where(eq(account_security.user_id, user))
    .get();
  if (row?.at == null) return { ok: false, retryAfterMs: Math.max(1_000, (row?.pausedUntil ?? now) - now) };
  return { ok: true, ...toFactorReset(row.at), isNew: false };
};

/**
 * Cancels the waiting period; returns false if none was running. Each cancellation lengthens the pause before the next
 * request, so that a holder of the password cannot keep the owner busy cancelling.
 */
export const cancelFactorReset = async (db: Db, user: Uuid): Promise<boolean> => {
  const now = Date.now();
  const { reset_paused_until, reset_stops } = account_security;
  const stops = sql<number>`iif(${reset_paused_until} < ${now - pausesForgottenMs}, 1, ${reset_stops} + 1)`;
  const [first, second, further] = factorResetPauseHours.map((hours) => hours * hourMs);
  const cancelled = await db
    .update(account_security)
    .set({
      reset_started_at: null,
      reset_stops: stops,
      reset_paused_until: sql`${now} + CASE ${stops} WHEN 1 THEN ${first} WHEN 2 THEN ${second} ELSE ${further} END`,
    })
    .where(and(eq(account_security.user_id, user), isNotNull(account_security.reset_started_at)))
    .returning({ user_id: account_security.user_id });
  return cancelled.length === 1;
};

/**
 * Removes the second factor if the waiting period is over; returns whether it did. Pending sessions end, since nothing
 * is left that they could show. Passkeys remain but are no longer required. The recovery code being used now is kept:
 * the batch that creates the session consumes it.
 */
export const applyDueFactorReset = async (
  db: Db,
  user: Uuid,
  { consumedRows: codeUse }: AuthPreconditions,
): Promise<boolean> => {
  const isDue = and(eq(account_security.user_id, user), lte(account_security.reset_started_at, Date.now() - waitMs));
  const row = await db.select({ user_id: account_security.user_id }).from(account_security).where(isDue).get();
  if (!row) return false;
  // Each statement checks again: the reset may have been cancelled meanwhile.
  const stillDue = sql`EXISTS (SELECT 1 FROM ${account_security} WHERE ${isDue})`;
  const otherCodes = codeUse.filter(({ table }) => table === recovery_codes).map(({ where }) => not(where));
  const [, , , applied] = await db.batch([
    db.delete(factors).where(and(eq(factors.user_id, user), stillDue)),
    db.delete(recovery_codes).where(and(eq(recovery_codes.user_id, user), stillDue, ...otherCodes)),
    db.delete(sessions).where(and(eq(sessions.user_id, user), eq(sessions.awaits, true), stillDue)),
    db
      .update(account_security)
      .set({ passkey_step: false, reset_started_at: null, ...clearedResetPause })
      .where(isDue)
      .returning({ user_id: account_security.user_id }),
  ]);
  return applied.length === 1;
};
