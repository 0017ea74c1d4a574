import { and, eq, getTableColumns, not, type SQL, sql } from "drizzle-orm";
import type { ConnectionRequest, Contact, ContactPage, RequestPage } from "#contract/contacts.ts";
import { createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { contactPageRows, requestPageRows } from "#contract/limits/people.ts";
import type { Profile, RelationState } from "#contract/people.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks, connection_requests, connections } from "#worker/db/relation-schema.ts";
import { isHiddenRequest } from "#worker/db/relations.ts";
import { listProfiles } from "#worker/db/visible-profiles.ts";
import { queueRelation } from "#worker/lib/contact-updates.ts";

type RequestRow = typeof connection_requests.$inferSelect;
type ConnectionRow = typeof connections.$inferSelect;

/** A request, and whether its recipient blocks its sender. */
export const findConnectionRequest = (db: Db, id: Uuid): Promise<(RequestRow & { blocked: boolean }) | undefined> =>
  db
    .select({ ...getTableColumns(connection_requests), blocked: sql`${blocks.user_id} IS NOT NULL`.mapWith(Boolean) })
    .from(connection_requests)
    .leftJoin(
      blocks,
      and(
        eq(blocks.user_id, connection_requests.to_user_id),
        eq(blocks.blocked_user_id, connection_requests.from_user_id),
      ),
    )
    .where(eq(connection_requests.id, id))
    .get();

const loadProfilesById = async (db: Db, me: Uuid, people: [Uuid, RelationState][]): Promise<Map<Uuid, Profile>> =>
  new Map((await listProfiles(db, me, new Map(people))).map((profile) => [profile.id, profile]));

const toConnectionRequest = (row: RequestRow, people: Map<Uuid, Profile>): ConnectionRequest | undefined => {
  const from_user = people.get(row.from_user_id);
  const to_user = people.get(row.to_user_id);
  if (!from_user || !to_user) return undefined;
  const { id, from_user_id, to_user_id, status, created_at } = row;
  return { id, from_user_id, to_user_id, status, created_at, from_user, to_user };
};

/**
 * A person's pending requests in both directions, newest first. `before`: id of the last request of the previous page.
 */
export const listRequests = async (db: Db, me: Uuid, before: Uuid | undefined): Promise<RequestPage> => {
  const selectHalf = (column: typeof connection_requests.to_user_id | typeof connection_requests.from_user_id) =>
    db
      .select()
      .from(connection_requests)
      .where(
        and(
          eq(column, me),
          eq(connection_requests.status, "pending"),
          not(isHiddenRequest(me)),
          before === undefined ? undefined : sql`${connection_requests.id} < ${before}`,
        ),
      )
      .orderBy(sql`${connection_requests.id} DESC`)
      .limit(requestPageRows);
  const [received, sent] = await db.batch([
    selectHalf(connection_requests.to_user_id),
    selectHalf(connection_requests.from_user_id),
  ]);
  const rows = [...received, ...sent].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, requestPageRows);
  const people = await loadProfilesById(db, me, [
    [me, "none"],
    ...rows.map((row): [Uuid, RelationState] =>
      row.from_user_id === me ? [row.to_user_id, "sent"] : [row.from_user_id, "received"],
    ),
  ]);
  const requests = rows.flatMap((row) => toConnectionRequest(row, people) ?? []);
  return {
    received: requests.filter((request) => request.to_user_id === me),
    sent: requests.filter((request) => request.from_user_id === me),
    before: rows.length === requestPageRows ? (rows.at(-1)?.id ?? null) : null,
  };
};

/** A person's contacts in order of creation. `after`: id of the last contact of the previous page. */
export const listContacts = async (db: Db, me: Uuid, after: Uuid | undefined): Promise<ContactPage> => {
  const selectHalf = (column: typeof connections.user1_id | typeof connections.user2_id) =>
    db
      .select()
      .from(connections)
      .where(and(eq(column, me), after === undefined ? undefined : sql`${connections.id} > ${after}`))
      .orderBy(connections.id)
      .limit(contactPageRows);
  const [first, second] = await db.batch([selectHalf(connections.user1_id), selectHalf(connections.user2_id)]);
  const rows = [...first, ...second].sort((a, b) => (a.id > b.id ? 1 : -1)).slice(0, contactPageRows);
  const getOther = (row: ConnectionRow) => (row.user1_id === me ? row.user2_id : row.user1_id);
  const people = await loadProfilesById(
    db,
    me,
    rows.map((row) => [getOther(row), "contact"]),
  );
  const contacts = rows.flatMap((row): Contact[] => {
    const profile = people.get(getOther(row));
    if (!profile) return [];
    return [{ ...profile, connection_id: row.id, connection_request_id: row.request_id, connected_at: row.created_at }];
  });
  return { contacts, after: rows.length === contactPageRows ? (rows.at(-1)?.id ?? null) : null };
};

const existsById = (table: "connections" | "connection_requests", id: Uuid) =>
  sql`EXISTS (SELECT 1 FROM ${sql.identifier(table)} WHERE id = ${id})`;

/**
 * Inserts a request. Returns undefined, and writes nothing, if the two are connected, either has already asked the
 * other, or the quota is used up (`quota`, see request-limits.ts). One statement decides, so that of two concurrent
 * requests in either direction one remains.
 */
export const insertConnectionRequest = async (db: Db, from: Uuid, to: Uuid, quota: SQL): Promise<Uuid | undefined> => {
  const now = Date.now();
  const id = createUuid(now);
  const pair = privateConversationId(from, to);
  const [inserted] = await db.batch([
    db
      .insert(connection_requests)
      .select(
        sql`SELECT ${id}, ${from}, ${to}, ${pair}, 'pending', NULL, ${now}, ${now}
            WHERE NOT EXISTS (SELECT 1 FROM connections WHERE conversation_id = ${pair}) AND ${quota}`,
      )
      .onConflictDoNothing()
      .returning({ id: connection_requests.id }),
    queueRelation(db, from, to, existsById("connection_requests", id)),
  ]);
  return inserted[0]?.id;
};

export type Acceptance = { connection: Uuid; isNew: boolean };

/**
 * Marks a pending request accepted and inserts the connection in one batch. Returns undefined if the request is not
 * pending. An existing connection of the two is no error (SPEC.md §4) and is returned instead.
 */
export const markRequestAccepted = async (db: Db, request: RequestRow): Promise<Acceptance | undefined> => {
  const now = Date.now();
  const id = createUuid(now);
  const [accepted, inserted, , existing] = await db.batch([
    db
      .update(connection_requests)
      .set({ status: "accepted", updated_at: now, connection_id: id })
      .where(and(eq(connection_requests.id, request.id), eq(connection_requests.status, "pending")))
      .returning({ id: connection_requests.id }),
    db
      .insert(connections)
      .select(
        sql`SELECT ${id}, from_user_id, to_user_id, conversation_id, id, ${now}
            FROM connection_requests WHERE id = ${request.id} AND connection_id = ${id}`,
      )
      .onConflictDoNothing()
      .returning({ id: connections.id }),
    queueRelation(db, request.from_user_id, request.to_user_id, existsById("connections", id)),
    db.select({ id: connections.id }).from(connections).where(eq(connections.conversation_id, request.conversation_id)),
  ]);
  const connection = existing[0]?.id;
  if (accepted.length === 0 || connection === undefined) return undefined;
  return { connection, isNew: inserted.length === 1 };
};

/** Undoes a half-completed acceptance: deletes the connection and makes the request pending again. */
export const undoAcceptance = async (db: Db, request: RequestRow, connection: Uuid): Promise<void> => {
  await db.batch([
    db.delete(connections).where(eq(connections.id, connection)),
    db
      .update(connection_requests)
      .set({ status: "pending", updated_at: Date.now(), connection_id: null })
      .where(and(eq(connection_requests.id, request.id), eq(connection_requests.connection_id, connection))),
    queueRelation(db, request.from_user_id, request.to_user_id),
  ]);
};

/** Declines a pending request; returns false if it was not pending. */
export const markRequestDeclined = async (db: Db, request: RequestRow): Promise<boolean> => {
  const [declined] = await db.batch([
    db
      .update(connection_requests)
      .set({ status: "declined", updated_at: Date.now() })
      .where(and(eq(connection_requests.id, request.id), eq(connection_requests.status, "pending")))
      .returning({ id: connection_requests.id }),
    queueRelation(db, request.from_user_id, request.to_user_id),
  ]);
  return declined.length === 1;
};

export const deleteConnection = async (db: Db, connection: Uuid, a: Uuid, b: Uuid): Promise<void> => {
  await db.batch([db.delete(connections).where(eq(connections.id, connection)), queueRelation(db, a, b)]);
};

/** Marks the request of a deleted contact as declined (SPEC.md §4). */
export const declineFormerRequest = async (db: Db, request: Uuid): Promise<void> => {
  await db
    .update(connection_requests)
    .set({ status: "declined", updated_at: Date.now() })
    .where(eq(connection_requests.id, request));
};
