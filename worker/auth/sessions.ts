import { randomBytes } from "node:crypto";
import { and, eq, ne, sql } from "drizzle-orm";
import { createUuid, type Uuid } from "../../contract/ids";
import { refreshGraceSeconds, sessionAbsoluteDays, sessionIdleDays, sessionsPerUserMax } from "../../contract/limits";
import type { Db } from "../db/client";
import { sessions } from "../db/schema";
import { isGenuine, makeRefreshToken, type RefreshToken } from "./refresh-token";

const dayMs = 86_400_000;

export type Tokens = { session: Uuid; generation: number; refresh_token: string };

/** The row of a sign-in to be, so that it can be written in one batch with what else a sign-in writes. */
export const newSession = (user: Uuid, now: number): typeof sessions.$inferInsert => ({
  id: createUuid(now),
  user_id: user,
  nonce: randomBytes(32).toString("base64url"),
  refreshed_at: now,
  created_at: now,
});

/** Signs in one more device. Beyond the most a person may have, the oldest ones end; their ids come back. */
export const insertSession = async (db: Db, row: typeof sessions.$inferInsert): Promise<{ ended: Uuid[] }> => {
  const kept = sql`(SELECT id FROM sessions WHERE user_id = ${row.user_id} ORDER BY created_at DESC, id DESC LIMIT ${sessionsPerUserMax})`;
  const [, ended] = await db.batch([
    db.insert(sessions).values(row),
    db
      .delete(sessions)
      .where(and(eq(sessions.user_id, row.user_id), sql`${sessions.id} NOT IN ${kept}`))
      .returning({ id: sessions.id }),
  ]);
  return { ended: ended.map(({ id }) => id) };
};

export const toTokens = (
  env: Env,
  { id, nonce, generation = 0 }: Pick<typeof sessions.$inferInsert, "id" | "nonce" | "generation">,
): Tokens => ({ session: id, generation, refresh_token: makeRefreshToken(env, id, nonce, generation) });

export type Rotation =
  | { outcome: "renewed"; user: Uuid; tokens: Tokens }
  | { outcome: "unknown" }
  | { outcome: "expired" | "reused"; user: Uuid; session: Uuid };

/** The person and session of a genuine refresh token of any generation, undefined for anything else. */
export const findSession = async (env: Env, db: Db, token: RefreshToken) => {
  const row = await db.select().from(sessions).where(eq(sessions.id, token.session)).get();
  return row && isGenuine(env, token, row.nonce) ? row : undefined;
};

/**
 * Trades a refresh token for its successor, once. The token just before the live one gets the same successor
 * again: for 10 s (two tabs at once), and beyond that for as long as nothing made from the successor was
 * ever used, for then the answer that carried it was lost. Anything older ends the session: one of two
 * holders is not the person.
 */
export const rotateSession = async (env: Env, db: Db, token: RefreshToken, now = Date.now()): Promise<Rotation> => {
  const row = await findSession(env, db, token);
  if (!row) return { outcome: "unknown" };
  const { id, user_id: user } = row;
  if (now - row.refreshed_at > sessionIdleDays * dayMs || now - row.created_at > sessionAbsoluteDays * dayMs) {
    await endSessions(db, user, { only: id });
    return { outcome: "expired", user, session: id };
  }
  const next = token.generation + 1;
  const renewed: Rotation = { outcome: "renewed", user, tokens: toTokens(env, { ...row, generation: next }) };
  const changed = await db
    .update(sessions)
    .set({ generation: next, refreshed_at: now })
    .where(and(eq(sessions.id, id), eq(sessions.generation, token.generation)))
    .returning({ id: sessions.id });
  if (changed.length === 1) return renewed;

  const live = await db.select().from(sessions).where(eq(sessions.id, id)).get();
  if (!live) return { outcome: "unknown" };
  const isParent = live.generation === next;
  const isLostAnswer = live.seen_generation < live.generation;
  if (isParent && (isLostAnswer || now - live.refreshed_at <= refreshGraceSeconds * 1_000)) return renewed;
  await endSessions(db, user, { only: id });
  return { outcome: "reused", user, session: id };
};

/** Ends a person's sessions by deleting their rows; answers which ones there were. */
export const endSessions = async (
  db: Db,
  user: Uuid,
  which: "all" | { only: Uuid } | { allBut: Uuid },
): Promise<Uuid[]> => {
  const mine = eq(sessions.user_id, user);
  const condition =
    which === "all" ? mine : and(mine, "only" in which ? eq(sessions.id, which.only) : ne(sessions.id, which.allBut));
  const ended = await db.delete(sessions).where(condition).returning({ id: sessions.id });
  return ended.map(({ id }) => id);
};
