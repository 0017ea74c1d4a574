import { randomBytes } from "node:crypto";
import { and, asc, eq, getTableColumns, ne, sql } from "drizzle-orm";
import type { Passkey } from "#contract/auth/factors.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { passkeysMax } from "#contract/limits/authentication.ts";
import type { AuthPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import type { Db } from "#worker/db/client.ts";
import { users } from "#worker/db/schema.ts";
import { account_security, passkeys } from "#worker/db/security-schema.ts";

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

/** Passkey of a credential with its owner's user handle and password hash. */
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

/** WebAuthn user handle of a person: random, and the same for all their passkeys. */
export const getOrCreateUserHandle = async (db: Db, user: Uuid): Promise<string> => {
  const [row] = await db
    .insert(account_security)
    .values({ user_id: user, user_handle: randomBytes(32).toString("base64url") })
    .onConflictDoUpdate({
      target: account_security.user_id,
      set: { user_handle: sql`coalesce(${account_security.user_handle}, excluded.user_handle)` },
    })
    .returning({ user_handle: account_security.user_handle });
  if (!row?.user_handle) throw new Error("the WebAuthn user handle was not written");
  return row.user_handle;
};

/**
 * Adds a passkey if the preconditions still hold, and consumes their rows. Returns undefined if they no longer hold,
 * the credential is already registered, or the person has `passkeysMax` passkeys.
 */
export const insertPasskey = async (
  db: Db,
  passkey: NewPasskeyRow,
  { conditions, consumedRows }: AuthPreconditions,
): Promise<PasskeyRow | undefined> => {
  const now = Date.now();
  const row: PasskeyRow = { ...passkey, id: createUuid(now), created_at: now, used_at: null };
  const { id, credential_id, user_id, public_key, counter, transports, is_synced, name, created_at } = row;
  const hasRoom = sql`(SELECT count(*) FROM passkeys WHERE user_id = ${user_id}) < ${passkeysMax}`;
  const [[inserted]] = await db.batch([
    db
      .insert(passkeys)
      .select(
        sql`SELECT ${id}, ${credential_id}, ${user_id}, ${public_key}, ${counter}, ${transports}, ${is_synced ? 1 : 0},
              ${name}, ${created_at}, NULL
            WHERE ${sql.join([hasRoom, ...conditions], sql` AND `)}`,
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

/**
 * Deletes a passkey; returns false if there was none. Deleting the last one also turns off passkeys as second factor.
 */
export const deletePasskey = async (db: Db, user: Uuid, id: Uuid): Promise<boolean> => {
  const hasNone = sql`NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = ${user})`;
  const [deleted] = await db.batch([
    db.delete(passkeys).where(isOwnPasskey(user, id)).returning({ id: passkeys.id }),
    db
      .update(account_security)
      .set({ passkey_step: false })
      .where(and(eq(account_security.user_id, user), eq(account_security.passkey_step, true), hasNone)),
  ]);
  return deleted.length === 1;
};

/**
 * Turns passkeys as second factor on or off. Returns "impossible" if it should be turned on and there is no passkey.
 */
export const updatePasskeyStep = async (
  db: Db,
  user: Uuid,
  isEnabled: boolean,
): Promise<"changed" | "as_before" | "impossible"> => {
  const hasSome = sql`EXISTS (SELECT 1 FROM passkeys WHERE user_id = ${user})`;
  const own = eq(account_security.user_id, user);
  const [changed, [now]] = await db.batch([
    db
      .update(account_security)
      .set({ passkey_step: isEnabled })
      .where(and(own, ne(account_security.passkey_step, isEnabled), isEnabled ? hasSome : undefined))
      .returning({ user_id: account_security.user_id }),
    db.select({ isOn: account_security.passkey_step }).from(account_security).where(own),
  ]);
  if (changed.length === 1) return "changed";
  return (now?.isOn ?? false) === isEnabled ? "as_before" : "impossible";
};

/**
 * Records a use and returns whether the passkey may be accepted. Each use must raise the signature counter: a counter
 * that does not grow belongs to a copy, or to the original after a copy was used. Synced passkeys always report zero.
 */
export const recordPasskeyUse = async (db: Db, id: Uuid, counter: number, is_synced: boolean): Promise<boolean> => {
  const hasGrown = counter > 0 ? sql`${passkeys.counter} < ${counter}` : sql`${passkeys.counter} = 0`;
  const used = await db
    .update(passkeys)
    .set({ counter, is_synced, used_at: Date.now() })
    .where(and(eq(passkeys.id, id), hasGrown))
    .returning({ id: passkeys.id });
  return used.length === 1;
};
