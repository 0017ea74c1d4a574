import { and, eq } from "drizzle-orm";
import { createUuid, type Uuid } from "../../contract/ids";
import { identities } from "../db/account-schema";
import type { Db } from "../db/client";
import { sessions } from "../db/schema";

/** Accounts at other providers, each linked to one of ours at most. */
type IdentityRow = typeof identities.$inferSelect;
export type Known = Pick<IdentityRow, "provider" | "subject" | "email" | "name">;
/** With the code (its hash) that is used up when an account of theirs stands. */
export type Newcomer = Known & { code: string };

export const newIdentity = (user_id: Uuid, { provider, subject, email, name }: Known, now: number): IdentityRow => ({
  id: createUuid(now),
  user_id,
  provider,
  subject,
  email,
  name,
  created_at: now,
  used_at: now,
});

/** Whose it is. */
export const findOwner = async (db: Db, { provider, subject }: Known): Promise<Uuid | undefined> => {
  const row = await db
    .select({ user_id: identities.user_id })
    .from(identities)
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)))
    .get();
  return row?.user_id;
};

/** Links it, unless it is linked already. */
export const insertIdentity = async (db: Db, user: Uuid, known: Known): Promise<boolean> => {
  const inserted = await db
    .insert(identities)
    .values(newIdentity(user, known, Date.now()))
    .onConflictDoNothing()
    .returning({ id: identities.id });
  return inserted.length === 1;
};

/** It signed somebody in; what the provider says of them now takes the place of what it said. */
export const markUsed = async (db: Db, { provider, subject, email, name }: Known): Promise<void> => {
  await db
    .update(identities)
    .set({ used_at: Date.now(), email, name })
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)));
};

/** False when this person has none of that id. */
export const deleteIdentity = async (db: Db, user: Uuid, id: Uuid): Promise<boolean> => {
  const gone = await db
    .delete(identities)
    .where(and(eq(identities.id, id), eq(identities.user_id, user)))
    .returning({ id: identities.id });
  return gone.length === 1;
};

/** Whether a session has not been ended, is its person's, and owes nothing. */
export const isWhole = async (db: Db, session: Uuid, user: Uuid): Promise<boolean> =>
  (await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, session), eq(sessions.user_id, user), eq(sessions.awaits, false)))
    .get()) !== undefined;
