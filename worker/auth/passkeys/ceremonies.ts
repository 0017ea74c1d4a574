import { and, eq, gte, isNull } from "drizzle-orm";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { ceremonySeconds } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { ceremonies } from "#worker/db/security-schema.ts";

type CeremonyRow = typeof ceremonies.$inferSelect;
/**
 * Binding of a ceremony to a person, a session and a factor. All are absent for a sign-in by passkey, where the passkey
 * identifies the person.
 */
export type CeremonyScope = Pick<CeremonyRow, "kind"> &
  Partial<Pick<CeremonyRow, "user_id" | "session_id" | "factor_id">>;

/** Stores a challenge that can be answered once, within `ceremonySeconds`. */
export const insertCeremony = async (
  db: Db,
  scope: CeremonyScope,
  challenge: string,
  now = Date.now(),
): Promise<Uuid> => {
  const id = createUuid(now);
  await db.insert(ceremonies).values({ ...scope, id, challenge, expires_at: now + ceremonySeconds * 1_000 });
  return id;
};

const matchesColumn = <C extends "user_id" | "session_id" | "factor_id">(
  column: C,
  value: CeremonyRow[C] | undefined,
) => (value === undefined || value === null ? isNull(ceremonies[column]) : eq(ceremonies[column], value));

const isOpenCeremony = (id: Uuid, scope: CeremonyScope, now: number) =>
  and(
    eq(ceremonies.id, id),
    eq(ceremonies.kind, scope.kind),
    matchesColumn("user_id", scope.user_id),
    matchesColumn("session_id", scope.session_id),
    matchesColumn("factor_id", scope.factor_id),
    gte(ceremonies.expires_at, now),
  );

/**
 * Deletes an open ceremony and returns its challenge, so that it cannot be answered again, whether the answer is valid
 * or not. Returns undefined if it was answered before, has expired, or belongs to another scope.
 */
export const consumeCeremony = async (
  db: Db,
  id: Uuid,
  scope: CeremonyScope,
  now = Date.now(),
): Promise<string | undefined> => {
  const [consumed] = await db
    .delete(ceremonies)
    .where(isOpenCeremony(id, scope, now))
    .returning({ challenge: ceremonies.challenge });
  return consumed?.challenge;
};

/** Reads an open ceremony without consuming it. The batch that writes the result consumes the row. */
export const findCeremony = async (
  db: Db,
  id: Uuid,
  scope: CeremonyScope,
  now = Date.now(),
): Promise<string | undefined> => {
  const found = await db
    .select({ challenge: ceremonies.challenge })
    .from(ceremonies)
    .where(isOpenCeremony(id, scope, now))
    .get();
  return found?.challenge;
};
