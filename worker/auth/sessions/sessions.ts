import { randomBytes } from "node:crypto";
import { and, eq, lte, ne, not, type SQL, sql } from "drizzle-orm";
import { createUuid, type Uuid } from "#contract/ids.ts";
import {
  pendingSecondFactorMinutes,
  refreshGraceSeconds,
  sessionAbsoluteDays,
  sessionIdleDays,
  sessionsPerUserMax,
} from "#contract/limits/authentication.ts";
import { dayMs } from "#contract/limits/durations.ts";
import {
  type AuthMethod,
  appendMethod,
  isSecondFactorRequired,
  isSecondFactorSatisfied,
} from "#worker/auth/second-factor/assurance.ts";
import { clearedResetPause } from "#worker/auth/second-factor/factor-reset.ts";
import { deletePendingChanges } from "#worker/auth/second-factor/pending-changes.ts";
import { type AuthPreconditions, noPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import type { Db } from "#worker/db/client.ts";
import { recordEndedSessions } from "#worker/db/ended-sessions.ts";
import { sessions, users } from "#worker/db/schema.ts";
import { account_security, auth_codes, mailed_tokens } from "#worker/db/security-schema.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { createRefreshToken, isGenuineRefreshToken, type RefreshToken } from "./refresh-token.ts";

export type SessionRow = typeof sessions.$inferSelect;
type NewSession = typeof sessions.$inferInsert;

export type SessionTokens = { session: Uuid; generation: number; refresh_token: string } & Pick<
  SessionRow,
  "methods" | "awaits" | "proved_at" | "created_at"
>;

/** Creates the row of a new session, to be written in one batch with other statements. */
export const createSessionRow = (user: Uuid, now: number, more: Partial<NewSession> = {}): NewSession => ({
  id: createUuid(now),
  user_id: user,
  nonce: randomBytes(32).toString("base64url"),
  refreshed_at: now,
  created_at: now,
  ...more,
});

/** SQL: whether any precondition fails. */
const failsPreconditions = ({ conditions }: AuthPreconditions): SQL =>
  conditions.length === 0 ? sql`0` : sql`NOT (${sql.join(conditions, sql` AND `)})`;

const deleteConsumedRows = (db: Db, { consumedRows }: AuthPreconditions, isDone: SQL) =>
  consumedRows.map(({ table, where }) => db.delete(table).where(and(where, isDone)));

/**
 * Inserts a session. The same transaction evaluates the preconditions and whether a second factor is required, so that
 * nothing can be revoked or turned on in between. Returns undefined if a precondition fails. Beyond
 * `sessionsPerUserMax` the oldest sessions end and their ids are returned. A pending session replaces only pending ones
 * of the same network: a holder of the password alone must not push out the owner's sessions from elsewhere.
 */
export const insertSession = async (
  db: Db,
  row: NewSession,
  preconditions: AuthPreconditions = noPreconditions,
): Promise<{ session: SessionRow; ended: Uuid[] } | undefined> => {
  const isPending = isSecondFactorSatisfied(row.methods ?? "") ? sql`0` : isSecondFactorRequired(row.user_id);
  const proved_at = sql<number>`iif(${isPending}, 0, ${row.proved_at ?? 0})`;
  const own = sql`FROM sessions WHERE id = ${row.id}`;
  const network = sql<string>`iif(${isPending}, ${row.network ?? ""}, '')`;
  const isSameKind = sql`user_id = ${row.user_id} AND (awaits, network) = (SELECT awaits, network ${own})`;
  const keptIds = sql`(SELECT id FROM sessions WHERE ${isSameKind} ORDER BY id = ${row.id} DESC, created_at DESC, id DESC LIMIT ${sessionsPerUserMax})`;
  const [[session], rejected, ended] = await db.batch([
    db
      .insert(sessions)
      .values({ ...row, awaits: sql`${isPending}`, proved_at, network })
      .returning(),
    db
      .delete(sessions)
      .where(and(eq(sessions.id, row.id), failsPreconditions(preconditions)))
      .returning({ id: sessions.id }),
    db.delete(sessions).where(sql`${isSameKind} AND id NOT IN ${keptIds}`).returning({ id: sessions.id }),
    ...deleteConsumedRows(db, preconditions, sql`EXISTS (SELECT 1 ${own})`),
  ]);
  return session && rejected.length === 0 ? { session, ended: ended.map(({ id }) => id) } : undefined;
};

/**
 * Reauthenticates a full session, which continues with new tokens. Returns undefined if it has ended or the
 * preconditions fail. The password alone fails where a second factor is required.
 */
export const stepUpSession = async (
  db: Db,
  { user, session: id }: Pick<Caller, "user" | "session">,
  method: AuthMethod,
  preconditions: AuthPreconditions,
): Promise<SessionRow | undefined> => {
  const now = Date.now();
  const next = sql`${sessions.generation} + 1`;
  const isLive = and(eq(sessions.id, id), eq(sessions.user_id, user), eq(sessions.awaits, false));
  const passwordSuffices = method === "password" ? [not(isSecondFactorRequired(user))] : [];
  const [[proved]] = await db.batch([
    db
      .update(sessions)
      .set({
        generation: next,
        refreshed_at: now,
        proved_at: now,
        proved_generation: next,
        methods: appendMethod(method),
      })
      .where(and(isLive, ...passwordSuffices, ...preconditions.conditions))
      .returning(),
    ...deleteConsumedRows(db, preconditions, sql`EXISTS (SELECT 1 FROM sessions WHERE ${isLive})`),
  ]);
  return proved;
};

export const createSessionTokens = (
  env: Env,
  { id, nonce, generation = 0, methods = "password", awaits = false, proved_at = 0, created_at }: NewSession,
): SessionTokens => ({
  session: id,
  generation,
  refresh_token: createRefreshToken(env, id, nonce, generation),
  methods,
  awaits,
  proved_at,
  created_at,
});

export const isSessionExpired = ({ refreshed_at, created_at, awaits }: SessionRow, now: number): boolean =>
  now - refreshed_at > sessionIdleDays * dayMs ||
  now - created_at > (awaits ? pendingSecondFactorMinutes * 60_000 : sessionAbsoluteDays * dayMs);

export type Rotation =
  | { outcome: "renewed"; user: Uuid; tokens: SessionTokens }
  | { outcome: "unknown" }
  | { outcome: "expired" | "reused"; user: Uuid; session: Uuid };

/** Session row of a genuine refresh token of any generation; undefined for anything else. */
export const findSessionByRefreshToken = async (env: Env, db: Db, token: RefreshToken) => {
  const row = await db.select().from(sessions).where(eq(sessions.id, token.session)).get();
  return row && isGenuineRefreshToken(env, token, row.nonce) ? row : undefined;
};

/**
 * Exchanges a genuine refresh token of this generation for its successor, once. The token just before the current one
 * gets the same successor again: for 10 s (two tabs at once), and beyond that as long as no token of the successor was
 * used, because then the response was lost. Any older token ends the session: one of its two holders is not the person.
 * A newer one than the stored generation was issued before the database was restored from an earlier copy; the session
 * continues from it (docs/decisions/restored-server.md).
 */
export const rotateSession = async (
  env: Env,
  db: Db,
  row: SessionRow,
  generation: number,
  now = Date.now(),
): Promise<Rotation> => {
  const { id, user_id: user } = row;
  if (isSessionExpired(row, now)) {
    await endSessions(db, user, { only: id });
    return { outcome: "expired", user, session: id };
  }
  const next = generation + 1;
  const renewed: Rotation = {
    outcome: "renewed",
    user,
    tokens: createSessionTokens(env, { ...row, generation: next }),
  };
  const changed = await db
    .update(sessions)
    .set({ generation: next, refreshed_at: now })
    .where(and(eq(sessions.id, id), lte(sessions.generation, generation)))
    .returning({ id: sessions.id });
  if (changed.length === 1) return renewed;

  const current = await db.select().from(sessions).where(eq(sessions.id, id)).get();
  if (!current) return { outcome: "unknown" };
  const isPrevious = current.generation === next;
  const isResponseLost = current.seen_generation < current.generation;
  if (isPrevious && (isResponseLost || now - current.refreshed_at <= refreshGraceSeconds * 1_000)) {
    // A reauthentication counts only for the recipient of its response, not for a holder of the previous token.
    if (current.proved_generation === next) await db.update(sessions).set({ proved_at: 0 }).where(eq(sessions.id, id));
    return renewed;
  }
  // Of several concurrent callers exactly one gets "reused", so that the person is notified once.
  const [ended] = await endSessions(db, user, { only: id });
  return ended === undefined ? { outcome: "unknown" } : { outcome: "reused", user, session: id };
};

type SessionSelection = "all" | { only: Uuid } | { allBut: Uuid };

const matchSessions = (user: Uuid, selection: SessionSelection): SQL | undefined => {
  const isOwn = eq(sessions.user_id, user);
  if (selection === "all") return isOwn;
  return and(isOwn, "only" in selection ? eq(sessions.id, selection.only) : ne(sessions.id, selection.allBut));
};

/** Ends a person's sessions by deleting their rows; returns their ids. Their devices keep what they hold. */
export const endSessions = async (db: Db, user: Uuid, selection: SessionSelection): Promise<Uuid[]> => {
  const ended = await db.delete(sessions).where(matchSessions(user, selection)).returning({ id: sessions.id });
  return ended.map(({ id }) => id);
};

/** Ends sessions because their person said so; returns their ids. Their devices delete what they hold. */
export const revokeSessions = async (db: Db, user: Uuid, selection: SessionSelection): Promise<Uuid[]> => {
  const condition = matchSessions(user, selection);
  const [, ended] = await db.batch([
    recordEndedSessions(db, condition, "revoked", Date.now()),
    db.delete(sessions).where(condition).returning({ id: sessions.id }),
  ]);
  return ended.map(({ id }) => id);
};

/**
 * Changes the password. The same transaction ends all other sessions and invalidates mailed tokens, codes and pending
 * changes. Returns the ended sessions, or undefined if the password was changed meanwhile or this session has ended: a
 * session revoked by another change must not override it.
 */
export const changePassword = async (
  db: Db,
  { user, session }: Pick<Caller, "user" | "session">,
  { from, to }: { from: string; to: string },
  now: number,
): Promise<Uuid[] | undefined> => {
  const isLive = sql`EXISTS (SELECT 1 FROM sessions WHERE id = ${session} AND user_id = ${user} AND awaits = 0)`;
  const isDone = sql`EXISTS (SELECT 1 FROM users WHERE id = ${user} AND password_hash = ${to})`;
  const isEnded = and(eq(sessions.user_id, user), ne(sessions.id, session), isDone);
  const [changed, , ended] = await db.batch([
    db
      .update(users)
      .set({ password_hash: to, updated_at: now })
      .where(and(eq(users.id, user), eq(users.password_hash, from), isLive))
      .returning({ id: users.id }),
    recordEndedSessions(db, isEnded, "revoked", now),
    db.delete(sessions).where(isEnded).returning({ id: sessions.id }),
    // A pending recovery address requested by somebody else must not be confirmed afterwards.
    db.delete(mailed_tokens).where(and(eq(mailed_tokens.user_id, user), isDone)),
    db
      .update(account_security)
      .set({ pending_email: null, ...clearedResetPause })
      .where(and(eq(account_security.user_id, user), isDone)),
    db.delete(auth_codes).where(and(eq(auth_codes.user_id, user), isDone)),
    ...deletePendingChanges(db, user, session, isDone),
  ]);
  return changed.length === 1 ? ended.map(({ id }) => id) : undefined;
};
