import { and, eq, sql } from "drizzle-orm";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { type AuthPreconditions, noPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions, users } from "#worker/db/schema.ts";
import { identities } from "#worker/db/security-schema.ts";

/** Accounts at other providers, each linked to at most one account of this service. */
type IdentityRow = typeof identities.$inferSelect;
export type ProviderIdentity = Pick<IdentityRow, "provider" | "subject" | "email" | "name">;
/** With the hash of the authorization code, which is consumed when the account is created. */
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

/** Account that an identity is linked to, with its password hash. */
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

/** Links an identity unless it is already linked. `isUsed`: the rows of the preconditions existed and were consumed. */
export const insertIdentity = async (
  db: Db,
  user: Uuid,
  identity: ProviderIdentity,
  { conditions, consumedRows }: AuthPreconditions = noPreconditions,
): Promise<{ isNew: boolean; isUsed: boolean }> => {
  const row = createIdentityRow(user, identity, Date.now());
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

/** Records a sign-in by an identity and updates the profile data that the provider reported. */
export const recordIdentityUse = async (
  db: Db,
  { provider, subject, email, name }: ProviderIdentity,
): Promise<void> => {
  await db
    .update(identities)
    .set({ used_at: Date.now(), email, name })
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)));
};

/** Deletes an identity of this person; returns false if there is none. */
export const deleteIdentity = async (db: Db, user: Uuid, id: Uuid): Promise<boolean> => {
  const deleted = await db
    .delete(identities)
    .where(and(eq(identities.id, id), eq(identities.user_id, user)))
    .returning({ id: identities.id });
  return deleted.length === 1;
};

/** Tests whether a session exists, belongs to this person and is not pending a second factor. */
export const isFullSession = async (db: Db, session: Uuid, user: Uuid): Promise<boolean> =>
  (await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, session), eq(sessions.user_id, user), eq(sessions.awaits, false)))
    .get()) !== undefined;
