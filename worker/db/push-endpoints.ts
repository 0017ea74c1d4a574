import { and, eq, ne, or, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import type { Db } from "./client.ts";
import { push_endpoints } from "./push-schema.ts";
import { sessions } from "./schema.ts";

/** Whether this session receives the pushes of the endpoint. False once the session has ended. */
export const isEndpointOfSession = async (db: Db, endpointHash: string, session: Uuid): Promise<boolean> => {
  const own = and(eq(push_endpoints.endpoint_hash, endpointHash), eq(push_endpoints.session_id, session));
  return (await db.select({ session: push_endpoints.session_id }).from(push_endpoints).where(own).get()) !== undefined;
};

/**
 * Assigns an endpoint to a session, which loses its previous endpoint. Returns the session that had the endpoint
 * before, and whether it was assigned: false if the session has ended.
 */
export const assignEndpoint = async (
  db: Db,
  endpointHash: string,
  session: Uuid,
): Promise<{ isAssigned: boolean; former: { user: Uuid; session: Uuid } | undefined }> => {
  const isSame = eq(push_endpoints.endpoint_hash, endpointHash);
  const [[former], , assigned] = await db.batch([
    db
      .select({ user: sessions.user_id, session: sessions.id })
      .from(push_endpoints)
      .innerJoin(sessions, eq(sessions.id, push_endpoints.session_id))
      .where(and(isSame, ne(push_endpoints.session_id, session))),
    db.delete(push_endpoints).where(or(isSame, eq(push_endpoints.session_id, session))),
    db
      .insert(push_endpoints)
      .select(sql`SELECT ${endpointHash}, id FROM ${sessions} WHERE id = ${session}`)
      .returning({ session: push_endpoints.session_id }),
  ]);
  return { isAssigned: assigned.length === 1, former };
};

export const deleteEndpointOfSession = async (db: Db, session: Uuid): Promise<void> => {
  await db.delete(push_endpoints).where(eq(push_endpoints.session_id, session));
};
