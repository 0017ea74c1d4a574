import { and, desc, eq, exists, gte, isNotNull, lt, ne, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { BlockList } from "#contract/contacts.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { blockPageRows } from "#contract/limits/people.ts";
import { invitationDays } from "#contract/names/invitation.ts";
import { defaultSettings } from "#contract/settings/settings.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks, connection_requests, group_invitations, invitations } from "#worker/db/relation-schema.ts";
import { listRelations } from "#worker/db/relations.ts";
import { profiles, settings } from "#worker/db/schema.ts";
import { queueBlockChange, queueOneSidedRelation } from "#worker/lib/contact-updates.ts";
import { selectAudienceFor } from "#worker/lib/exceptions.ts";

/** Statement that tells a person's devices the number of their invitations if a block by or of a sender changes it. */
const queueInvitationCount = (db: Db, to: Uuid, from: Uuid) =>
  queueOneSidedRelation(
    db,
    to,
    to,
    sql`EXISTS (SELECT 1 FROM ${group_invitations} WHERE to_user_id = ${to} AND status = 'pending' AND from_user_id = ${from})`,
  );

type BlockRow = typeof blocks.$inferSelect;

const isBlockOf = (me: Uuid, other: Uuid) => and(eq(blocks.user_id, me), eq(blocks.blocked_user_id, other));

/** People whom the caller blocks, newest first. `before`: cursor from the previous page. */
export const listBlocks = async (db: Db, me: Uuid, before: number | undefined): Promise<BlockList> => {
  const rows = await db
    .select({ other: blocks.blocked_user_id, created_at: blocks.created_at })
    .from(blocks)
    .where(and(eq(blocks.user_id, me), before === undefined ? undefined : lt(blocks.created_at, before)))
    .orderBy(desc(blocks.created_at))
    .limit(blockPageRows);
  const others = rows.map(({ other }) => other);
  const people = (await listRelations(db, me, others)).map(({ profile }) => profile);
  return {
    blocked: others.flatMap((other) => people.find(({ id }) => id === other) ?? []),
    before: rows.length === blockPageRows ? (rows.at(-1)?.created_at ?? null) : null,
  };
};

/**
 * Statement that revokes the own invitation if somebody became a contact since it was made. Who is blocked may have the
 * link, and must not come back through it with another account.
 */
const revokeInvitationKnownTo = (db: Db, me: Uuid, other: Uuid) => {
  const madeAt = sql`${invitations.expires_at} - ${invitationDays * dayMs}`;
  const acceptedSince = db
    .select({ one: sql`1` })
    .from(connection_requests)
    .where(
      and(
        eq(connection_requests.conversation_id, privateConversationId(me, other)),
        eq(connection_requests.status, "accepted"),
        gte(connection_requests.updated_at, madeAt),
      ),
    );
  return db.delete(invitations).where(and(eq(invitations.user_id, me), exists(acceptedSince)));
};

/** People for whom these statements have queued an update. */
const listQueued = (people: readonly Uuid[], results: readonly D1Result[]): Uuid[] => [
  ...new Set(people.filter((_, index) => (results[index]?.meta.changes ?? 0) > 0)),
];

/**
 * Inserts a block, revokes an invitation that the blocked person may have, and queues the update for the conversation
 * and for the blocker's own devices. The other person's learn only that an invitation to a group is gone, as if it were
 * withdrawn. Returns whether there was no block before, and whom an update is queued for.
 */
export const insertBlock = async (db: Db, me: Uuid, other: Uuid): Promise<{ isNew: boolean; queued: Uuid[] }> => {
  const [inserted, , ...queued] = await db.batch([
    db
      .insert(blocks)
      .select(
        // In the order of the columns.
        sql`SELECT ${me}, ${other}, avatar_url,
              max(${Date.now()}, (SELECT ifnull(max(created_at) + 1, 0) FROM blocks WHERE user_id = ${me})),
              username, phone, handle, verified_at,
              ifnull(${selectAudienceFor("pictureTo", other)}, ${defaultSettings.pictureTo}),
              ifnull(${selectAudienceFor("phoneTo", other)}, ${defaultSettings.phoneTo}),
              ifnull(${settings.phone_in_groups}, ${defaultSettings.phoneInGroups ? 1 : 0})
            FROM ${profiles} LEFT JOIN ${settings} ON ${settings.user_id} = ${profiles.id} WHERE ${profiles.id} = ${me}`,
      )
      .onConflictDoNothing(),
    revokeInvitationKnownTo(db, me, other),
    queueBlockChange(db, me, other),
    queueInvitationCount(db, me, other),
    queueInvitationCount(db, other, me),
  ]);
  return { isNew: inserted.meta.changes > 0, queued: listQueued([me, me, other], queued) };
};

type DeletedBlock = { block: BlockRow | undefined; unusedAvatar: string | undefined };

/** Deletes a block, and queues its end for the conversation. `unusedAvatar`: picture that nobody sees any more. */
export const deleteBlock = async (db: Db, me: Uuid, other: Uuid): Promise<DeletedBlock> => {
  const another = alias(blocks, "another");
  const isMine = db
    .select({ one: sql`1` })
    .from(profiles)
    .where(and(eq(profiles.id, me), eq(profiles.avatar_url, blocks.avatar_url)));
  const isShown = db
    .select({ one: sql`1` })
    .from(another)
    .where(and(eq(another.user_id, me), ne(another.blocked_user_id, other), eq(another.avatar_url, blocks.avatar_url)));
  const isBlocked = sql`EXISTS (SELECT 1 FROM ${blocks} WHERE ${isBlockOf(me, other)})`;
  const [pictures, , deleted] = await db.batch([
    db
      .select({ key: blocks.avatar_url })
      .from(blocks)
      .where(and(isBlockOf(me, other), isNotNull(blocks.avatar_url), notExists(isMine), notExists(isShown))),
    queueBlockChange(db, me, other, isBlocked),
    db.delete(blocks).where(isBlockOf(me, other)).returning(),
  ]);
  return { block: deleted[0], unusedAvatar: pictures[0]?.key ?? undefined };
};

/** Restores a deleted block unchanged. */
export const restoreBlock = async (db: Db, block: BlockRow): Promise<void> => {
  const { user_id: me, blocked_user_id: other } = block;
  await db.batch([db.insert(blocks).values(block).onConflictDoNothing(), queueBlockChange(db, me, other)]);
};

/**
 * Queues the updates of an ended block besides its end: for the other person, if they have the profile, the present
 * one, which looks like any change of a profile. Returns whom an update is queued for.
 */
export const queueUnblock = async (db: Db, me: Uuid, other: Uuid): Promise<Uuid[]> => {
  const pair = privateConversationId(me, other);
  const isKnown = sql`EXISTS (SELECT 1 FROM connections WHERE conversation_id = ${pair})
    OR EXISTS (SELECT 1 FROM connection_requests WHERE conversation_id = ${pair} AND status = 'pending')`;
  const queued = await db.batch([
    queueOneSidedRelation(db, other, me, isKnown),
    queueInvitationCount(db, me, other),
    queueInvitationCount(db, other, me),
  ]);
  return [...new Set([me, ...listQueued([other, me, other], queued)])];
};
