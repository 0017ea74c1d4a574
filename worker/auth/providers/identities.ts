import { and, eq, sql } from "drizzle-orm";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { type AuthPreconditions, noPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import { identities } from "#worker/db/account-schema.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions, users } from "#worker/db/schema.ts";

/** Accounts at other providers, each linked to one of ours at most. */
type IdentityRow = typeof identities.$inferSelect;
export type ProviderIdentity = Pick<IdentityRow, "provider" | "subject" | "email" | "name">;
/** With the code (its hash) that is used up when an account of theirs stands. */
export type UnlinkedIdentity = ProviderIdentity & { codeHash: string };

export const createIdentityRow = (
  user_id: Uuid,
  { provider, subject, email, name }: ProviderIdentity,
  now: number,
): IdentityRow => ({
  id: createUuid(now),
  user_id,
  provider,
  subject,
  email,
  name,
  created_at: now,
  used_at: now,
});

/** Whose it is, and the password that they have besides. */
export const findIdentityOwner = (
  db: Db,
  { provider, subject }: Pick<ProviderIdentity, "provider" | "subject">,
): Promise<{ user_id: Uuid; password_hash: string } | undefined> =>
  db
    .select({ user_id: identities.user_id, password_hash: users.password_hash })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.user_id))
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)))
    .get();

/** Links it, unless it is linked already; `isUsed`: what it stands on was there to be used up. */
export const insertIdentity = async (
  db: Db,
  user: Uuid,
  known: ProviderIdentity,
  { conditions, consumedRows }: AuthPreconditions = noPreconditions,
): Promise<{ isNew: boolean; isUsed: boolean }> => {
  const row = createIdentityRow(user, known, Date.now());
  const [inserted, ...used] = await db.batch([
    db
      .insert(identities)
      .select(
        sql`SELECT ${row.id}, ${row.user_id}, ${row.provider}, ${row.subject}, ${row.email}, ${row.name}, ${row.created_at}, ${row.used_at}
            WHERE ${sql.join([sql`1`, ...conditions], sql` AND `)}`,
      )
      .onConflictDoNothing()
      .returning({ id: identities.id }),
    ...consumedRows.map(({ table, where }) => db.delete(table).where(where).returning()),
  ]);
  return { isNew: inserted.length === 1, isUsed: used.every((rows) => rows.length === 1) };
};

/** It signed somebody in; what the provider says of them now takes the place of what it said. */
export const recordIdentityUse = async (
  db: Db,
  { provider, subject, email, name }: ProviderIdentity,
): Promise<void> => {
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
export const isFullSession = async (db: Db, session: Uuid, user: Uuid): Promise<boolean> =>
  (await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, session), eq(sessions.user_id, user), eq(sessions.awaits, false)))
    .get()) !== undefined;
