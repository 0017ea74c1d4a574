import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { createDeletedRelation, type Relation } from "#contract/people.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { pending_relations } from "#worker/db/relation-schema.ts";
import { listInvitationNotices, listRelations } from "#worker/db/relations.ts";
import { type AppContext, runAfterResponse } from "./http/app.ts";
import { logError } from "./log.ts";

/**
 * Delivery of relation changes to the UserChannels of both people, and of blocks to their conversation. The pending update
 * is written in the D1 batch of the change and deleted after they confirmed it, so that a Worker stopping in between loses
 * nothing: the rest is pushed at the person's next change or next socket.
 */

const pageRows = 40; // one bound parameter each, of which a statement may have `boundParametersMax`
const pagesMax = 50;
const pushesAtOnce = 6; // outgoing connections of one request
const overtakenDelayMs = 50; // random, up to this, so that concurrent pushes do not overtake each other in turns
const recipientsMax = 200; // people notified at once of a changed profile; the rest receive it when they next connect

const raiseVersion = {
  target: [pending_relations.user_id, pending_relations.other_id],
  set: {
    version: sql`${pending_relations.version} + 1`,
    block_changed: sql`${pending_relations.block_changed} OR excluded.block_changed`,
  },
};

/**
 * Statement for the batch of a change between two people. `condition`: SQL that is true if the change took place;
 * otherwise nothing is queued.
 */
export const queueRelation = (db: Db, a: Uuid, b: Uuid, condition = sql`1`) =>
  db
    .insert(pending_relations)
    .select(sql`SELECT column1, column2, 1, 0 FROM (VALUES (${a}, ${b}), (${b}, ${a})) WHERE ${condition}`)
    .onConflictDoUpdate(raiseVersion);

const insertOneSided = (db: Db, user: Uuid, other: Uuid, condition: SQL, isBlockChanged: boolean) =>
  db
    .insert(pending_relations)
    .select(sql`SELECT ${user}, ${other}, 1, ${isBlockChanged ? 1 : 0} WHERE ${condition}`)
    .onConflictDoUpdate(raiseVersion);

/** Statement for a change that only `user` is notified of. */
export const queueOneSidedRelation = (db: Db, user: Uuid, other: Uuid, condition = sql`1`) =>
  insertOneSided(db, user, other, condition, false);

/** Statement for the batch in which `user` blocks or unblocks somebody: their conversation is notified too. */
export const queueBlockChange = (db: Db, user: Uuid, other: Uuid, condition = sql`1`) =>
  insertOneSided(db, user, other, condition, true);

/** Statement for changed invitations to groups, whose number is in the own relation of their recipients. */
export const queueInvitationCounts = (db: Db, invitations: SQL | undefined) =>
  db
    .insert(pending_relations)
    .select(
      sql`SELECT user, user, 1, 0 FROM (SELECT DISTINCT to_user_id AS user FROM group_invitations WHERE ${invitations}) WHERE 1`,
    )
    .onConflictDoUpdate(raiseVersion);

/**
 * Statement for the batch of a changed profile: queues everybody who has it in their store, and its owner's other
 * devices.
 */
export const queueProfileChange = (db: Db, me: Uuid) =>
  db
    .insert(pending_relations)
    .select(
      sql`SELECT other, ${me}, 1, 0 FROM (
            SELECT user2_id AS other FROM connections WHERE user1_id = ${me}
            UNION SELECT user1_id FROM connections WHERE user2_id = ${me}
            UNION SELECT to_user_id FROM connection_requests WHERE from_user_id = ${me} AND status = 'pending'
            UNION SELECT from_user_id FROM connection_requests WHERE to_user_id = ${me} AND status = 'pending'
            UNION SELECT ${me}
          ) WHERE 1`,
    )
    .onConflictDoUpdate(raiseVersion);

/**
 * Statement for the batch of a deleted account: queues everybody who ever had the profile in their store, or still may.
 */
export const queueAccountDeleted = (db: Db, me: Uuid) =>
  db
    .insert(pending_relations)
    .select(
      sql`SELECT other, ${me}, 1, 0 FROM (
            SELECT user2_id AS other FROM connections WHERE user1_id = ${me}
            UNION SELECT user1_id FROM connections WHERE user2_id = ${me}
            UNION SELECT to_user_id FROM connection_requests WHERE from_user_id = ${me}
            UNION SELECT from_user_id FROM connection_requests WHERE to_user_id = ${me}
            UNION SELECT user_id FROM blocks WHERE blocked_user_id = ${me}
          ) WHERE 1`,
    )
    .onConflictDoUpdate(raiseVersion);

type PendingRelation = Pick<typeof pending_relations.$inferSelect, "other_id" | "version" | "block_changed">;

/** Relations of a person to others. People missing from the directory have deleted their accounts. */
const listRelationsOrDeleted = async (db: Db, user: Uuid, others: Uuid[]): Promise<Relation[]> => {
  const relations = await listRelations(db, user, others);
  const found = new Set(relations.map(({ profile }) => profile.id));
  return [...relations, ...others.filter((other) => !found.has(other)).map(createDeletedRelation)];
};

/** Those of these updates whose relation has changed since these relations were pushed. */
const findStaleRelations = async (
  db: Db,
  user: Uuid,
  pending: readonly PendingRelation[],
  pushed: readonly Relation[],
): Promise<PendingRelation[]> => {
  const toText = (relations: readonly Relation[]) =>
    new Map(relations.map((relation) => [relation.profile.id, JSON.stringify(relation)]));
  const others = pending.map(({ other_id }) => other_id);
  const [known, now] = [toText(pushed), toText(await listRelationsOrDeleted(db, user, others))];
  return pending.filter(({ other_id }) => known.get(other_id) !== now.get(other_id));
};

/**
 * Invitations to groups that the own relation counts; undefined if it is not among these. They are read also if it counts
 * none, so that an invitation causes the same work if its recipient does not see it.
 */
const listOwnInvitations = async (db: Db, user: Uuid, relations: readonly Relation[]) => {
  const own = relations.find(({ profile }) => profile.id === user);
  if (!own) return undefined;
  // Later ones have queued another update.
  return (await listInvitationNotices(db, user)).filter(({ at }) => at <= own.since);
};

const runBatch = async <T extends BatchItem<"sqlite">>(db: Db, statements: T[]) => {
  const [first, ...rest] = statements;
  return first ? db.batch([first, ...rest]) : [];
};

/** Sets or ends a block in the conversation of two people. Throws if it cannot be reached. */
export const setConversationBlock = (env: Env, me: Uuid, other: Uuid, isBlocked: boolean): Promise<void> =>
  env.CONVERSATION.getByName(privateConversationId(me, other)).setBlocked(me, isBlocked);

/**
 * Notifies the conversations of changed blocks, which the route that changed them may have failed to do. Returns the
 * people whose conversation cannot be reached.
 */
const deliverBlocks = async (
  env: Env,
  user: Uuid,
  pending: readonly PendingRelation[],
  relations: readonly Relation[],
): Promise<Set<Uuid>> => {
  const failed = new Set<Uuid>();
  for (const { other_id } of pending.filter(({ block_changed }) => block_changed)) {
    const relation = relations.find(({ profile }) => profile.id === other_id);
    if (!relation || relation.profile.deleted) continue;
    try {
      await setConversationBlock(env, user, other_id, relation.blocked);
    } catch (error) {
      logError("a conversation could not be notified of a block and is notified later", error);
      failed.add(other_id);
    }
  }
  return failed;
};

/**
 * Pushes the pending relation changes to a person's channel. Throws if the channel does not respond; nothing is lost
 * then.
 */
export const pushPendingRelations = async (env: Env, user: Uuid): Promise<void> => {
  const db = openDb(env);
  const channel = env.USER_CHANNEL.getByName(user);
  for (let page = 0; page < pagesMax; page++) {
    const pending = await db
      .select({
        other_id: pending_relations.other_id,
        version: pending_relations.version,
        block_changed: pending_relations.block_changed,
      })
      .from(pending_relations)
      .where(eq(pending_relations.user_id, user))
      .limit(pageRows);
    if (pending.length === 0) return;
    const others = pending.map(({ other_id }) => other_id);
    const relations = await listRelationsOrDeleted(db, user, others);
    await channel.updateRelations(relations, await listOwnInvitations(db, user, relations));
    const unnotified = await deliverBlocks(env, user, pending, relations);
    const delivered = pending.filter(({ other_id }) => !unnotified.has(other_id));
    // Deletes only the version that was pushed: a change since then has raised it.
    const deletions = delivered.map(({ other_id, version }) =>
      db
        .delete(pending_relations)
        .where(
          and(
            eq(pending_relations.user_id, user),
            eq(pending_relations.other_id, other_id),
            eq(pending_relations.version, version),
          ),
        ),
    );
    const results = await runBatch(db, deletions);
    // A missing row was pushed by a concurrent request, perhaps with a newer relation and before this push. Relations
    // that changed are queued again. Unchanged ones are not, because many concurrent pushes would otherwise never end.
    const overtaken = delivered.filter((_, index) => results[index]?.meta.changes === 0);
    const stale = overtaken.length > 0 ? await findStaleRelations(db, user, overtaken, relations) : [];
    if (stale.length > 0) {
      await runBatch(
        db,
        stale.map(({ other_id, block_changed }) => insertOneSided(db, user, other_id, sql`1`, block_changed)),
      );
      await scheduler.wait(Math.random() * overtakenDelayMs);
    } else if (pending.length < pageRows) return;
  }
};

/** Pushes pending changes to each of these people. A failure for one does not delay the others. */
export const pushPendingToEach = async (env: Env, users: readonly Uuid[]): Promise<void> => {
  const queue = users.slice(0, recipientsMax);
  const pushNext = async () => {
    for (let user = queue.shift(); user !== undefined; user = queue.shift()) {
      await pushPendingRelations(env, user).catch((error: unknown) =>
        logError("a relation change waits for the person's next socket", error),
      );
    }
  };
  await Promise.all(Array.from({ length: pushesAtOnce }, pushNext));
};

/** Pushes pending changes after the response, which does not wait for the devices. `what`: for the log, if it fails. */
export const pushPendingAfterResponse = (
  { env, executionCtx }: Pick<AppContext, "env" | "executionCtx">,
  what: string,
  users: readonly Uuid[],
): void => runAfterResponse(executionCtx, what, pushPendingToEach(env, users));

/** People whose channel has not yet received the change of this person, up to `recipientsMax`. */
export const listPendingRecipients = async (db: Db, about: Uuid): Promise<Uuid[]> => {
  const rows = await db
    .select({ user_id: pending_relations.user_id })
    .from(pending_relations)
    .where(eq(pending_relations.other_id, about))
    .limit(recipientsMax);
  return rows.map(({ user_id }) => user_id);
};

/** Pushes a changed profile to everybody who has it. */
export const pushUpdatesAbout = async (env: Env, about: Uuid): Promise<void> =>
  pushPendingToEach(env, await listPendingRecipients(openDb(env), about));
