import { eq } from "drizzle-orm";
import type { AuthUser } from "../../contract/auth";
import { createUuid, type Uuid } from "../../contract/ids";
import type { Db } from "../db/client";
import { profiles, users } from "../db/schema";

export type User = Pick<typeof users.$inferSelect, "id" | "phone" | "created_at" | "updated_at"> & { username: string };

export const toAuthUser = (user: User): AuthUser => ({
  id: user.id,
  aud: "authenticated",
  role: "authenticated",
  phone: user.phone,
  created_at: new Date(user.created_at).toISOString(),
  updated_at: new Date(user.updated_at).toISOString(),
  user_metadata: { username: user.username },
  app_metadata: { provider: "phone", providers: ["phone"] },
});

const columns = {
  id: users.id,
  phone: users.phone,
  created_at: users.created_at,
  updated_at: users.updated_at,
  username: profiles.username,
};

export const findUser = (db: Db, id: Uuid): Promise<User | undefined> =>
  db.select(columns).from(users).innerJoin(profiles, eq(profiles.id, users.id)).where(eq(users.id, id)).get();

/** With the password's hash, for signing in; the only query that reads it. */
export const findUserByPhone = (db: Db, phone: string): Promise<(User & { password_hash: string }) | undefined> =>
  db
    .select({ ...columns, password_hash: users.password_hash })
    .from(users)
    .innerJoin(profiles, eq(profiles.id, users.id))
    .where(eq(users.phone, phone))
    .get();

export const isPhoneTaken = async (db: Db, phone: string): Promise<boolean> =>
  (await db.select({ id: users.id }).from(users).where(eq(users.phone, phone)).get()) !== undefined;

export const updatePasswordHash = async (db: Db, id: Uuid, password_hash: string): Promise<void> => {
  await db.update(users).set({ password_hash }).where(eq(users.id, id));
};

type NewUser = { phone: string; username: string | undefined; password_hash: string };

/** An account with its profile. Undefined when somebody took the phone in between. */
export const insertUser = async (db: Db, { phone, username, password_hash }: NewUser): Promise<User | undefined> => {
  const now = Date.now();
  const user = { id: createUuid(now), phone, created_at: now, updated_at: now };
  // A person without a name yet is called by the number, as everywhere a name is missing (SPEC.md §3).
  const profile = { id: user.id, username: username ?? phone, phone, created_at: now };
  try {
    await db.batch([db.insert(users).values({ ...user, password_hash }), db.insert(profiles).values(profile)]);
  } catch (error) {
    if (isPhoneConflict(error)) return undefined;
    throw error;
  }
  return { ...user, username: profile.username };
};

const isPhoneConflict = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (/UNIQUE constraint failed: (users|profiles)\.phone/.test(at.message)) return true;
  }
  return false;
};
