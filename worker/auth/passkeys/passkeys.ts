import { randomBytes } from "node:crypto";
import { and, asc, eq, getTableColumns, ne, sql } from "drizzle-orm";
import type { Passkey } from "#contract/auth/factors.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { passkeysMax } from "#contract/limits.ts";
import type { AuthPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import { account_security, passkeys } from "#worker/db/account-schema.ts";
import type { Db } from "#worker/db/client.ts";
import { users } from "#worker/db/schema.ts";

export type PasskeyRow = typeof passkeys.$inferSelect;
type NewPasskeyRow = Omit<PasskeyRow, "id" | "created_at" | "used_at">;
export type PasskeyWithOwner = NonNullable<Awaited<ReturnType<typeof findPasskey>>>;

export const toPasskey = ({ id, name, is_synced, created_at, used_at }: PasskeyRow): Passkey => ({
  id,
  name,
  synced: is_synced,
  created_at,
  used_at,
});

export const listPasskeys = (db: Db, user: Uuid): Promise<PasskeyRow[]> =>
  db.select().from(passkeys).where(eq(passkeys.user_id, user)).orderBy(asc(passkeys.created_at), asc(passkeys.id));

/** The passkey of this credential, with what it knows its person by, and the password that they have besides. */
export const findPasskey = (db: Db, credential: string) =>
  db
    .select({
      ...getTableColumns(passkeys),
      user_handle: account_security.user_handle,
      password_hash: users.password_hash,
    })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.user_id))
    .innerJoin(account_security, eq(account_security.user_id, passkeys.user_id))
    .where(eq(passkeys.credential_id, credential))
    .get();

/** What passkeys know the person by: random, and the same for all of theirs. */
export const getOrCreateUserHandle = async (db: Db, user: Uuid): Promise<string> => {
  const [row] = await db
    .insert(account_security)
    .values({ user_id: user, user_handle: randomBytes(32).toString("base64url") })
    .onConflictDoUpdate({
      target: account_security.user_id,
      set: { user_handle: sql`coalesce(${account_security.user_handle}, excluded.user_handle)` },
    })
    .returning({ user_handle: account_security.user_handle });
  if (!row?.user_handle) throw new Error("a person has no handle for passkeys");
  return row.user_handle;
};

/**
 * Adds what was made in answer to a question (`ground`), which is used up. Undefined when that was taken back meanwhile, the
 * credential is somebody's already, or its person has as many as possible.
 */
export const insertPasskey = async (
  db: Db,
  passkey: NewPasskeyRow,
  { conditions, consumedRows }: AuthPreconditions,
): Promise<PasskeyRow | undefined> => {
  const now = Date.now();
  const row: PasskeyRow = { ...passkey, id: createUuid(now), created_at: now, used_at: null };
  const { id, credential_id, user_id, public_key, counter, transports, is_synced, name, created_at } = row;
  const isRoom = sql`(SELECT count(*) FROM passkeys WHERE user_id = ${user_id}) < ${passkeysMax}`;
  const [[inserted]] = await db.batch([
    db
      .insert(passkeys)
      .select(
        sql`SELECT ${id}, ${credential_id}, ${user_id}, ${public_key}, ${counter}, ${transports}, ${is_synced ? 1 : 0},
              ${name}, ${created_at}, NULL
            WHERE ${sql.join([isRoom, ...conditions], sql` AND `)}`,
      )
      .onConflictDoNothing()
      .returning(),
    ...consumedRows.map(({ table, where }) => db.delete(table).where(where)),
  ]);
  return inserted;
};

const isOwnPasskey = (user: Uuid, id: Uuid) => and(eq(passkeys.id, id), eq(passkeys.user_id, user));

export const updatePasskeyName = async (
  db: Db,
  user: Uuid,
  id: Uuid,
  name: string,
): Promise<PasskeyRow | undefined> => {
  const [renamed] = await db.update(passkeys).set({ name }).where(isOwnPasskey(user, id)).returning();
  return renamed;
};

/** Whether there was one. The last one takes the wish that passkeys be asked with it. */
export const deletePasskey = async (db: Db, user: Uuid, id: Uuid): Promise<boolean> => {
  const none = sql`NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = ${user})`;
  const [deleted] = await db.batch([
    db.delete(passkeys).where(isOwnPasskey(user, id)).returning({ id: passkeys.id }),
    db
      .update(account_security)
      .set({ passkey_step: false })
      .where(and(eq(account_security.user_id, user), eq(account_security.passkey_step, true), none)),
  ]);
  return deleted.length === 1;
};

/** Whether passkeys are asked for after the password too. Impossible to want when there is none to ask for. */
export const updatePasskeyStep = async (
  db: Db,
  user: Uuid,
  isWanted: boolean,
): Promise<"changed" | "as_before" | "impossible"> => {
  const some = sql`EXISTS (SELECT 1 FROM passkeys WHERE user_id = ${user})`;
  const own = eq(account_security.user_id, user);
  const [changed, [now]] = await db.batch([
    db
      .update(account_security)
      .set({ passkey_step: isWanted })
      .where(and(own, ne(account_security.passkey_step, isWanted), isWanted ? some : undefined))
      .returning({ user_id: account_security.user_id }),
    db.select({ isOn: account_security.passkey_step }).from(account_security).where(own),
  ]);
  if (changed.length === 1) return "changed";
  return (now?.isOn ?? false) === isWanted ? "as_before" : "impossible";
};

/**
 * Notes a use, and says whether the passkey may count. Each use has to raise its counter: one that stands still or goes
 * back is a copy's, or the original's after a copy was used. Passkeys that travel between devices count nothing and
 * always say zero.
 */
export const recordPasskeyUse = async (db: Db, id: Uuid, counter: number, is_synced: boolean): Promise<boolean> => {
  const isGrown = counter > 0 ? sql`${passkeys.counter} < ${counter}` : sql`${passkeys.counter} = 0`;
  const used = await db
    .update(passkeys)
    .set({ counter, is_synced, used_at: Date.now() })
    .where(and(eq(passkeys.id, id), isGrown))
    .returning({ id: passkeys.id });
  return used.length === 1;
};
