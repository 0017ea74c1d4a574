import { and, eq, isNull, ne, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { formerHandleDays } from "#contract/limits/people.ts";
import { toSkeleton } from "#contract/names/skeleton.ts";
import type { FoundPerson } from "#contract/people.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks } from "#worker/db/relation-schema.ts";
import { toFoundPeople } from "#worker/db/relations.ts";
import { handles, profiles } from "#worker/db/schema.ts";
import { selectProfiles } from "#worker/db/visible-profiles.ts";

/** SQL: `selectProfiles` did not join a block of the viewer. */
const isNotBlocked = isNull(blocks.user_id);

const getReservationStart = (now: number): number => now - formerHandleDays * dayMs;

export const findOwnHandle = async (db: Db, me: Uuid): Promise<string | null> =>
  (await db.select({ handle: profiles.handle }).from(profiles).where(eq(profiles.id, me)).get())?.handle ?? null;

/** Statement that releases a person's handle, which stays reserved for them. */
const releaseHandle = (db: Db, me: Uuid, now: number) =>
  db
    .update(handles)
    .set({ released_at: now })
    .where(and(eq(handles.user_id, me), isNull(handles.released_at)));

/**
 * Gives a person a handle in place of the present one. Returns false if its skeleton belongs to somebody else or is
 * reserved for them. One transaction decides, so that of two people who choose it at once one gets it. Devices read
 * handles with a profile, so nobody is notified.
 */
export const changeHandle = async (db: Db, me: Uuid, handle: string, now = Date.now()): Promise<boolean> => {
  const skeleton = toSkeleton(handle);
  const since = getReservationStart(now);
  const isOthers = sql`${handles.user_id} IS NOT ${me} AND (${handles.released_at} IS NULL OR ${handles.released_at} > ${since})`;
  const isMine = sql`EXISTS (SELECT 1 FROM ${handles} WHERE skeleton = ${skeleton} AND user_id = ${me} AND released_at IS NULL)`;
  const [, , changed] = await db.batch([
    db
      .insert(handles)
      .values({ skeleton, user_id: me, released_at: null })
      .onConflictDoUpdate({
        target: handles.skeleton,
        set: { user_id: me, released_at: null },
        setWhere: sql`NOT (${isOthers})`,
      }),
    db
      .update(handles)
      .set({ released_at: now })
      .where(and(eq(handles.user_id, me), isNull(handles.released_at), ne(handles.skeleton, skeleton), isMine)),
    db
      .update(profiles)
      .set({ handle })
      .where(and(eq(profiles.id, me), isMine))
      .returning({ id: profiles.id }),
  ]);
  return changed.length > 0;
};

/** Removes a person's handle, which nobody else can choose for some days. */
export const removeHandle = async (db: Db, me: Uuid, now = Date.now()): Promise<void> => {
  await db.batch([releaseHandle(db, me, now), db.update(profiles).set({ handle: null }).where(eq(profiles.id, me))]);
};

/** The person with exactly this handle, unless they block the searcher. */
export const searchByHandle = async (db: Db, me: Uuid, handle: string): Promise<FoundPerson[]> => {
  const owner = db
    .select({ id: handles.user_id })
    .from(handles)
    .where(and(eq(handles.skeleton, toSkeleton(handle)), isNull(handles.released_at)));
  const people = await selectProfiles(db, me).where(
    and(sql`${profiles.id} = (${owner})`, eq(profiles.handle, handle), ne(profiles.id, me), isNotBlocked),
  );
  return toFoundPeople(db, me, people, () => "handle");
};

/** Deletes the reservations of former handles that have ended. */
export const purgeFormerHandles = async (db: Db, now: number, atOnce: number): Promise<void> => {
  await db.run(
    sql`DELETE FROM handles WHERE skeleton IN
      (SELECT skeleton FROM handles WHERE released_at <= ${getReservationStart(now)} LIMIT ${atOnce})`,
  );
};
