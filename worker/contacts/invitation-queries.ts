import { randomBytes } from "node:crypto";
import { and, eq, gt, isNull, lt, not, sql } from "drizzle-orm";
import { createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { invitationDays, invitationUsesMax } from "#contract/names/invitation.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks, connection_requests, invitations } from "#worker/db/relation-schema.ts";
import { profiles } from "#worker/db/schema.ts";
import { queueRelation } from "#worker/lib/contact-updates.ts";

const tokenBytes = 16;

type InvitationRow = typeof invitations.$inferSelect;

/**
 * SQL: since this invitation was made, its sender ended the contact with the person of `pair` or declined their
 * request. A former contact is a declined request with a connection.
 */
const isRejectedPair = (me: Uuid, pair: string) =>
  sql`EXISTS (SELECT 1 FROM connection_requests AS former WHERE former.conversation_id = ${pair}
    AND former.status = 'declined' AND former.updated_at >= ${invitations.expires_at} - ${invitationDays * dayMs}
    AND (former.connection_id IS NOT NULL OR former.from_user_id = ${me}))`;

/** SQL: neither expired nor used up. */
const isValid = (now: number) => and(gt(invitations.expires_at, now), lt(invitations.uses, invitationUsesMax));

export const findOwnInvitation = (db: Db, me: Uuid, now = Date.now()): Promise<InvitationRow | undefined> =>
  db
    .select()
    .from(invitations)
    .where(and(eq(invitations.user_id, me), isValid(now)))
    .get();

/** Stores a new invitation in place of the former one, unless that is valid, and returns the present one. */
export const insertInvitation = async (db: Db, me: Uuid, now = Date.now()): Promise<InvitationRow | undefined> => {
  const row = {
    token: randomBytes(tokenBytes).toString("base64url"),
    expires_at: now + invitationDays * dayMs,
    uses: 0,
  };
  await db
    .insert(invitations)
    .values({ user_id: me, ...row })
    .onConflictDoUpdate({
      target: invitations.user_id,
      set: row,
      setWhere: sql`${invitations.expires_at} <= ${now} OR ${invitations.uses} >= ${invitationUsesMax}`,
    });
  return findOwnInvitation(db, me, now);
};

export const deleteInvitation = async (db: Db, me: Uuid): Promise<void> => {
  await db.delete(invitations).where(eq(invitations.user_id, me));
};

/** Name of the person whose valid invitation this is. */
export const findInviterName = async (db: Db, token: string, now = Date.now()): Promise<string | undefined> =>
  (
    await db
      .select({ name: profiles.username })
      .from(invitations)
      .innerJoin(profiles, eq(profiles.id, invitations.user_id))
      .where(and(eq(invitations.token, token), isValid(now)))
      .get()
  )?.name;

/** Person whose invitation this is, valid or not, unless they block the reader. */
export const findInviter = async (db: Db, me: Uuid, token: string): Promise<Uuid | undefined> =>
  (
    await db
      .select({ id: invitations.user_id })
      .from(invitations)
      .leftJoin(blocks, and(eq(blocks.user_id, invitations.user_id), eq(blocks.blocked_user_id, me)))
      .where(and(eq(invitations.token, token), isNull(blocks.user_id)))
      .get()
  )?.id;

/**
 * Uses a valid invitation once: returns the pending request of the two, which the caller then accepts. It is the
 * inviter's new request, or one that either had sent before. Undefined if the invitation is not valid for this person.
 * Only one statement of concurrent ones takes the last use.
 */
export const redeemInvitation = async (
  db: Db,
  me: Uuid,
  { token, inviter }: { token: string; inviter: Uuid },
  now = Date.now(),
): Promise<Uuid | undefined> => {
  const id = createUuid(now);
  const pair = privateConversationId(inviter, me);
  const isPending = and(eq(connection_requests.conversation_id, pair), eq(connection_requests.status, "pending"));
  const [, used, pending] = await db.batch([
    db
      .insert(connection_requests)
      .select(
        sql`SELECT ${id}, user_id, ${me}, ${pair}, 'pending', NULL, ${now}, ${now} FROM ${invitations}
            WHERE token = ${token} AND ${isValid(now)} AND NOT ${isRejectedPair(me, pair)}
              AND NOT EXISTS (SELECT 1 FROM connections WHERE conversation_id = ${pair})`,
      )
      .onConflictDoNothing(),
    db
      .update(invitations)
      .set({ uses: sql`uses + 1` })
      .where(
        and(
          eq(invitations.token, token),
          isValid(now),
          not(isRejectedPair(me, pair)),
          sql`EXISTS (SELECT 1 FROM connection_requests WHERE conversation_id = ${pair} AND status = 'pending')`,
        ),
      )
      .returning({ user_id: invitations.user_id }),
    db.select({ id: connection_requests.id }).from(connection_requests).where(isPending),
    queueRelation(db, inviter, me),
  ]);
  return used.length === 1 ? pending[0]?.id : undefined;
};

/** Deletes expired invitations, up to `atOnce`. */
export const purgeInvitations = async (db: Db, now: number, atOnce: number): Promise<void> => {
  await db
    .delete(invitations)
    .where(sql`rowid IN (SELECT rowid FROM ${invitations} WHERE expires_at <= ${now} LIMIT ${atOnce})`);
};
