import { and, desc, eq, sql } from "drizzle-orm";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { groupInvitationDays } from "#contract/limits/groups.ts";
import { comparedContactsMax, pendingRequestsMax } from "#contract/limits/people.ts";
import { checkInvitationQuota, isPausedAfterInvitation } from "#worker/contacts/request-limits.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { connections, group_invitations } from "#worker/db/relation-schema.ts";
import { isReceivedInvitation } from "#worker/db/relations.ts";
import { pushPendingToEach, queueInvitationCounts, queueOneSidedRelation } from "#worker/lib/contact-updates.ts";
import type { InvitedPerson } from "./queries.ts";

/** Invitations to groups in the directory (docs/decisions/group-invitations.md). */

const keptDays = 2 * groupInvitationDays; // answered ones, which limit the next ones

export type GroupInvitationRow = typeof group_invitations.$inferSelect;

/** Statement that tells a person's devices the number of their invitations, which is in their own relation. */
const queueInvitationCount = (db: Db, user: Uuid) => queueOneSidedRelation(db, user, user);

type Quota = Awaited<ReturnType<typeof checkInvitationQuota>>;

/** Quotas for these invitations in their order, up to the first refusal. */
export const checkInvitationQuotas = async (
  env: Env,
  db: Db,
  from: Uuid,
  invited: readonly InvitedPerson[],
): Promise<Quota[]> => {
  const quotas: Quota[] = [];
  let strangers = 0;
  for (const { user, isContact } of invited) {
    const quota = await checkInvitationQuota(env, db, { from, to: user, isContact, ahead: strangers });
    quotas.push(quota);
    if ("code" in quota) break;
    if (!isContact) strangers++;
  }
  return quotas;
};

/** SQL: the pause after a declined invitation to this group or of this person is not over. */
const isPaused = (group: Uuid, from: Uuid, to: Uuid, now: number) =>
  isPausedAfterInvitation(to, sql`(group_id = ${group} OR from_user_id = ${from})`, now);

type InvitationSide = { from: Uuid } | { to: Uuid };

const isPendingIn = (group: Uuid, side: InvitationSide) =>
  and(
    eq(group_invitations.group_id, group),
    eq(group_invitations.status, "pending"),
    "to" in side ? eq(group_invitations.to_user_id, side.to) : eq(group_invitations.from_user_id, side.from),
  );

const clockSkewMs = 60_000;

/**
 * Invitations of a group that the directory has not stored: the Worker stopped in between, or the quota was used up at
 * the same moment.
 */
export const listUnstoredInvitations = async (
  db: Db,
  { group, from }: { group: Uuid; from: Uuid },
  invitations: readonly { user: Uuid; at: number }[],
): Promise<Uuid[]> => {
  if (invitations.length === 0) return [];
  const rows = await db.all<{
    user: Uuid;
  }>(sql`SELECT value ->> 'user' AS user FROM json_each(${JSON.stringify(invitations)})
    WHERE NOT EXISTS (SELECT 1 FROM group_invitations WHERE to_user_id = value ->> 'user'
      AND status IN ('pending', 'declined', 'void') AND group_id = ${group} AND from_user_id = ${from}
      AND created_at > (value ->> 'at') - ${clockSkewMs})`);
  return rows.map(({ user }) => user);
};

/**
 * Stores an invitation unless the quota is used up. During a pause it is stored as `void`: it counts for its sender and
 * is not shown, so that nobody learns that they were declined.
 */
export const insertGroupInvitation = async (
  db: Db,
  { group, from, invited, quota }: { group: Uuid; from: Uuid; invited: InvitedPerson; quota: Quota },
  now = Date.now(),
): Promise<void> => {
  const to = invited.user;
  const hasRoom = "condition" in quota ? quota.condition : sql`0`;
  await db.batch([
    // The group knows no other one: it has expired, or its end was not recorded.
    db
      .update(group_invitations)
      .set({ status: "withdrawn", updated_at: now })
      .where(and(isPendingIn(group, { to }), hasRoom)),
    db
      .insert(group_invitations)
      .select(
        sql`SELECT ${createUuid(now)}, ${group}, ${from}, ${to}, ${invited.isContact ? 1 : 0},
            CASE WHEN ${isPaused(group, from, to, now)} THEN 'void' ELSE 'pending' END, ${now}, ${now}
          WHERE ${hasRoom}`,
      )
      .onConflictDoNothing(),
    queueInvitationCount(db, to),
  ]);
};

export const listReceivedInvitations = (db: Db, me: Uuid): Promise<GroupInvitationRow[]> =>
  db
    .select()
    .from(group_invitations)
    .where(isReceivedInvitation(me))
    .orderBy(desc(group_invitations.id))
    .limit(pendingRequestsMax);

/** An invitation to this person with any status. `isBlocked`: they block its sender; `isBlocking`: the reverse. */
export const findReceivedInvitation = async (
  db: Db,
  me: Uuid,
  id: Uuid,
): Promise<(GroupInvitationRow & { isBlocked: boolean; isBlocking: boolean }) | undefined> => {
  const row = await db
    .select()
    .from(group_invitations)
    .where(and(eq(group_invitations.id, id), eq(group_invitations.to_user_id, me)))
    .get();
  if (!row) return undefined;
  const from = row.from_user_id;
  const block = await db.get<{ own: number; other: number }>(
    sql`SELECT (SELECT count(*) FROM blocks WHERE user_id = ${me} AND blocked_user_id = ${from}) AS own,
      (SELECT count(*) FROM blocks WHERE user_id = ${from} AND blocked_user_id = ${me}) AS other`,
  );
  return { ...row, isBlocked: block.own > 0, isBlocking: block.other > 0 };
};

/** Changes the status of a pending invitation and queues the new number of invitations. */
export const settleInvitation = async (
  db: Db,
  { id, to_user_id }: Pick<GroupInvitationRow, "id" | "to_user_id">,
  status: "accepted" | "declined" | "withdrawn",
): Promise<void> => {
  await db.batch([
    db
      .update(group_invitations)
      .set({ status, updated_at: Date.now() })
      .where(and(eq(group_invitations.id, id), eq(group_invitations.status, "pending"))),
    queueInvitationCount(db, to_user_id),
  ]);
};

/** Withdraws the pending invitations of a group that one person sent, or that to one person. */
export const withdrawInvitations = async (env: Env, group: Uuid, side: InvitationSide): Promise<void> => {
  const db = openDb(env);
  const isPending = isPendingIn(group, side);
  const [, withdrawn] = await db.batch([
    queueInvitationCounts(db, isPending),
    db
      .update(group_invitations)
      .set({ status: "withdrawn", updated_at: Date.now() })
      .where(isPending)
      .returning({ to: group_invitations.to_user_id }),
  ]);
  await pushPendingToEach(
    env,
    withdrawn.map(({ to }) => to),
  );
};

/** Own contacts, of whom an invitation names those in the group. */
export const listContactIds = async (db: Db, me: Uuid): Promise<Uuid[]> => {
  const [first, second] = await db.batch([
    db
      .select({ id: connections.user2_id })
      .from(connections)
      .where(eq(connections.user1_id, me))
      .limit(comparedContactsMax),
    db
      .select({ id: connections.user1_id })
      .from(connections)
      .where(eq(connections.user2_id, me))
      .limit(comparedContactsMax),
  ]);
  return [...first, ...second].map(({ id }) => id);
};

/** Deletes invitations that limit no others any more, up to `atOnce`. Expired ones are not shown before that. */
export const purgeGroupInvitations = async (db: Db, now: number, atOnce: number): Promise<void> => {
  // The literal status lets SQLite use the partial index.
  const isExpired = sql`rowid IN (SELECT rowid FROM group_invitations WHERE status = 'pending'
    AND created_at <= ${now - groupInvitationDays * dayMs} ORDER BY created_at, rowid LIMIT ${atOnce})`;
  await db.batch([
    queueInvitationCounts(db, isExpired),
    db.update(group_invitations).set({ status: "withdrawn" }).where(isExpired),
    db
      .delete(group_invitations)
      .where(
        sql`rowid IN (SELECT rowid FROM ${group_invitations} WHERE created_at <= ${now - keptDays * dayMs} LIMIT ${atOnce})`,
      ),
  ]);
};
