import { and, eq, isNull, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import type { FoundPerson } from "#contract/people.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks, personal_links } from "#worker/db/relation-schema.ts";
import { toFoundPeople } from "#worker/db/relations.ts";
import { profiles } from "#worker/db/schema.ts";
import { selectProfiles } from "#worker/db/visible-profiles.ts";

const isOwn = (me: Uuid) => eq(personal_links.user_id, me);

export const findLinkToken = async (db: Db, me: Uuid): Promise<string | undefined> =>
  (await db.select({ token: personal_links.token }).from(personal_links).where(isOwn(me)).get())?.token;

/** Stores a new token in place of the former one, which leads nowhere from then on. */
export const replaceLinkToken = async (db: Db, me: Uuid, token: string): Promise<void> => {
  await db
    .insert(personal_links)
    .values({ user_id: me, token })
    .onConflictDoUpdate({ target: personal_links.user_id, set: { token } });
};

export const deleteLinkToken = async (db: Db, me: Uuid): Promise<void> => {
  await db.delete(personal_links).where(isOwn(me));
};

/** The person to whom a link leads, oneself included, unless they block the reader. */
export const findByLinkToken = async (db: Db, me: Uuid, token: string): Promise<FoundPerson | undefined> => {
  const owner = db.select({ id: personal_links.user_id }).from(personal_links).where(eq(personal_links.token, token));
  const people = await selectProfiles(db, me).where(and(sql`${profiles.id} = (${owner})`, isNull(blocks.user_id)));
  const [found] = await toFoundPeople(db, me, people, () => "handle");
  return found;
};
