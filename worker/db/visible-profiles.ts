import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Uuid } from "#contract/ids.ts";
import type { Profile, RelationState } from "#contract/people.ts";
import { defaultSettings } from "#contract/settings/settings.ts";
import { ownNumber } from "#worker/lib/absent-number.ts";
import { type PlainAudience, selectAudienceFor } from "#worker/lib/exceptions.ts";
import { type StoredProfile, toVisibleProfile } from "#worker/lib/profile-visibility.ts";
import type { Db } from "./client.ts";
import { blocks } from "./relation-schema.ts";
import { profiles, settings } from "./schema.ts";

/**
 * Profiles read for one person, the viewer. Whom somebody blocks sees the profile as it was at the start of the block
 * (docs/decisions/profile-visibility.md).
 */

/** SQL: a value as it is, or for a blocked viewer as it was. */
const seen = <T>(current: SQLiteColumn | SQL, atBlock: SQLiteColumn) =>
  sql<T>`CASE WHEN ${blocks.user_id} IS NULL THEN ${current} ELSE ${atBlock} END`;

/** SQL: who sees the picture. A setting that shows more since the block does not count for the blocked viewer. */
const pictureTo = (viewer: Uuid) => sql<PlainAudience>`CASE
  ifnull(${selectAudienceFor("pictureTo", viewer)}, ${defaultSettings.pictureTo})
  WHEN 'everyone' THEN ifnull(${blocks.picture_to}, 'everyone')
  WHEN 'contacts' THEN CASE ${blocks.picture_to} WHEN 'nobody' THEN 'nobody' ELSE 'contacts' END
  ELSE 'nobody' END`;

const phoneTo = (viewer: Uuid) => sql<StoredProfile["phoneTo"]>`CASE ${blocks.phone_to} WHEN 'nobody' THEN 'nobody'
  ELSE ifnull(${selectAudienceFor("phoneTo", viewer)}, ${defaultSettings.phoneTo}) END`;

const phoneInGroups = sql`(ifnull(${settings.phone_in_groups}, ${defaultSettings.phoneInGroups ? 1 : 0})
  AND ifnull(${blocks.phone_in_groups}, 1))`.mapWith(Boolean);

/** Profiles for a viewer. The query joins a block of the viewer (`blocks`), if there is one. */
export const selectProfiles = (db: Db, viewer: Uuid) =>
  db
    .select({
      id: profiles.id,
      username: seen<string>(profiles.username, blocks.username),
      phone: sql<string>`CASE WHEN ${profiles.id} = ${viewer} THEN ${ownNumber}
        ELSE ${seen(profiles.phone, blocks.phone)} END`,
      avatar_url: seen<string | null>(profiles.avatar_url, blocks.avatar_url),
      created_at: profiles.created_at,
      handle: seen<string | null>(profiles.handle, blocks.handle),
      verified_at: seen<number | null>(profiles.verified_at, blocks.verified_at),
      phoneInGroups,
      phoneTo: phoneTo(viewer),
      pictureTo: pictureTo(viewer),
    })
    .from(profiles)
    .leftJoin(blocks, and(eq(blocks.user_id, profiles.id), eq(blocks.blocked_user_id, viewer)))
    .leftJoin(settings, eq(settings.user_id, profiles.id));

/** SQL: the viewer of `selectProfiles` sees the person's present number, by which they may therefore be found. */
export const isPresentNumberSeen = sql`(${blocks.user_id} IS NULL OR ${blocks.phone} = ${profiles.phone})`;

/** SQL: name of a row of `profiles` for a viewer, in a query of its own. */
export const selectNameFor = (viewer: Uuid): SQL<string> =>
  sql<string>`ifnull((SELECT ${blocks.username} FROM ${blocks}
    WHERE ${blocks.user_id} = ${profiles.id} AND ${blocks.blocked_user_id} = ${viewer}), ${profiles.username})`;

/** Profiles of people whose relation to the reader is known. */
export const listProfiles = async (db: Db, me: Uuid, people: ReadonlyMap<Uuid, RelationState>): Promise<Profile[]> => {
  if (people.size === 0) return [];
  const rows = await selectProfiles(db, me).where(inArray(profiles.id, [...people.keys()]));
  return rows.map((profile) =>
    toVisibleProfile(me, profile, { state: people.get(profile.id) ?? "none", foundBy: "id" }),
  );
};

export const findOwnProfile = async (db: Db, me: Uuid): Promise<Profile | undefined> =>
  (await listProfiles(db, me, new Map([[me, "none" as const]])))[0];
