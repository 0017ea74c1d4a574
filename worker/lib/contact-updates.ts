import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Uuid } from "#contract/ids.ts";
import { createDeletedRelation, type Relation } from "#contract/people.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { listRelations } from "#worker/db/relations.ts";
import { pending_relations } from "#worker/db/schema.ts";
import { logError } from "./log.ts";

/**
 * Every change of standing reaches both people's channels. What has to be told is written in the same D1
 * batch as the change and deleted when the channel confirmed, so that a Worker dying in between loses
 * nothing: whatever is left is told at the person's next change or next socket.
 */

const pageRows = 40; // one bound parameter each, of which a statement may have `boundParametersMax`
const pagesMax = 50;
const pushesAtOnce = 6; // outgoing connections of one request
const overtakenDelayMs = 50; // at most, so that two who tell the same do not overtake each other by turns
const recipientsMax = 200; // told at once of a changed profile; the rest hear of it when they next connect

const raiseVersion = {
  target: [pending_relations.user_id, pending_relations.other_id],
  set: { version: sql`${pending_relations.version} + 1` },
};

/**
 * The statement for the batch of a change between two people. With `condition` (SQL that is true when the
 * change took place) nothing is queued for a change that did not.
 */
export const queueRelation = (db: Db, a: Uuid, b: Uuid, condition = sql`1`) =>
  db
    .insert(pending_relations)
    .select(sql`SELECT column1, column2, 1 FROM (VALUES (${a}, ${b}), (${b}, ${a})) WHERE ${condition}`)
    .onConflictDoUpdate(raiseVersion);

/** The same for a change that only `user` hears of. */
export const queueOneSidedRelation = (db: Db, user: Uuid, other: Uuid, condition = sql`1`) =>
  db
    .insert(pending_relations)
    .select(sql`SELECT ${user}, ${other}, 1 WHERE ${condition}`)
    .onConflictDoUpdate(raiseVersion);

/** The statement for the batch of a changed profile: everybody who has it in their store, and its own person's other devices. */
export const queueProfileChange = (db: Db, me: Uuid) =>
  db
    .insert(pending_relations)
    .select(
      sql`SELECT other, ${me}, 1 FROM (
            SELECT user2_id AS other FROM connections WHERE user1_id = ${me}
            UNION SELECT user1_id FROM connections WHERE user2_id = ${me}
            UNION SELECT to_user_id FROM connection_requests WHERE from_user_id = ${me} AND status = 'pending'
            UNION SELECT from_user_id FROM connection_requests WHERE to_user_id = ${me} AND status = 'pending'
            UNION SELECT ${me}
          ) WHERE 1`,
    )
    .onConflictDoUpdate(raiseVersion);

/** The statement for the batch of a deleted account: everybody who ever had the profile in their store, or still may. */
export const queueAccountDeleted = (db: Db, me: Uuid) =>
  db
    .insert(pending_relations)
    .select(
      sql`SELECT other, ${me}, 1 FROM (
            SELECT user2_id AS other FROM connections WHERE user1_id = ${me}
            UNION SELECT user1_id FROM connections WHERE user2_id = ${me}
            UNION SELECT to_user_id FROM connection_requests WHERE from_user_id = ${me}
            UNION SELECT from_user_id FROM connection_requests WHERE to_user_id = ${me}
            UNION SELECT user_id FROM blocks WHERE blocked_user_id = ${me}
          ) WHERE 1`,
    )
    .onConflictDoUpdate(raiseVersion);

/** How people stand to somebody; those who are not in the directory any more have deleted their accounts. */
const listRelationsOrDeleted = async (db: Db, user: Uuid, others: Uuid[]): Promise<Relation[]> => {
  const relations = await listRelations(db, user, others);
  const found = new Set(relations.map(({ profile }) => profile.id));
  return [...relations, ...others.filter((other) => !found.has(other)).map(createDeletedRelation)];
};

/** Those of them to whom the person stands otherwise by now than was told. */
const findStaleRelations = async (db: Db, user: Uuid, others: Uuid[], told: Relation[]): Promise<Uuid[]> => {
  const known = new Map(told.map((relation) => [relation.profile.id, JSON.stringify(relation)]));
  const now = await listRelationsOrDeleted(db, user, others);
  return now
    .filter((relation) => known.get(relation.profile.id) !== JSON.stringify(relation))
    .map(({ profile }) => profile.id);
};

const runBatch = async <T extends BatchItem<"sqlite">>(db: Db, statements: T[]) => {
  const [first, ...rest] = statements;
  return first ? db.batch([first, ...rest]) : [];
};

/** Tells a person's channel what it has still to hear. Throws when the channel does not answer; then nothing is lost. */
export const pushPendingRelations = async (env: Env, user: Uuid): Promise<void> => {
  const db = openDb(env);
  const channel = env.USER_CHANNEL.getByName(user);
  for (let page = 0; page < pagesMax; page++) {
    const pending = await db
      .select({ other_id: pending_relations.other_id, version: pending_relations.version })
      .from(pending_relations)
      .where(eq(pending_relations.user_id, user))
      .limit(pageRows);
    if (pending.length === 0) return;
    const others = pending.map(({ other_id }) => other_id);
    const standings = await listRelationsOrDeleted(db, user, others);
    await channel.updateRelations(user, standings);
    // Only the row that was read before the channel was told: a change since then has raised its version.
    const told = pending.map(({ other_id, version }) =>
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
    const results = await runBatch(db, told);
    // Somebody else told the channel of these meanwhile, perhaps of a newer standing and before this: what does not hold
    // any more is told anew. What holds is not, or many who tell the same at once would never come to an end.
    const overtaken = others.filter((_, index) => results[index]?.meta.changes === 0);
    const stale = overtaken.length > 0 ? await findStaleRelations(db, user, overtaken, standings) : [];
    if (stale.length > 0) {
      await runBatch(
        db,
        stale.map((other) => queueOneSidedRelation(db, user, other)),
      );
      await scheduler.wait(Math.random() * overtakenDelayMs);
    } else if (pending.length < pageRows) return;
  }
};

/** After a change: each of these people is told, and one who cannot be told keeps nobody else waiting. */
export const pushPendingToEach = async (env: Env, users: readonly Uuid[]): Promise<void> => {
  const queue = users.slice(0, recipientsMax);
  const work = async () => {
    for (let user = queue.shift(); user !== undefined; user = queue.shift()) {
      await pushPendingRelations(env, user).catch((error: unknown) =>
        logError("a change of standing waits for the person's next socket", error),
      );
    }
  };
  await Promise.all(Array.from({ length: pushesAtOnce }, work));
};

/** Everybody whose channel has still to hear of this person. */
export const listPendingRecipients = async (db: Db, about: Uuid): Promise<Uuid[]> => {
  const rows = await db
    .select({ user_id: pending_relations.user_id })
    .from(pending_relations)
    .where(eq(pending_relations.other_id, about))
    .limit(recipientsMax);
  return rows.map(({ user_id }) => user_id);
};

/** After a change of a profile: everybody who has it hears of it. */
export const pushUpdatesAbout = async (env: Env, about: Uuid): Promise<void> =>
  pushPendingToEach(env, await listPendingRecipients(openDb(env), about));
