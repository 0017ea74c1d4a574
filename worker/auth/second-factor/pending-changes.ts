import { and, eq, ne, type SQL } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import type { Db } from "#worker/db/client.ts";
import { auth_codes, ceremonies, factors, oauth_flows } from "#worker/db/security-schema.ts";

/**
 * Statements that delete the unfinished changes started in a person's other sessions: ceremonies, OAuth flows,
 * authorization codes, and unverified code apps, which belong to no session.
 */
export const deletePendingChanges = (db: Db, user: Uuid, session: Uuid, where?: SQL) =>
  [
    db.delete(ceremonies).where(and(eq(ceremonies.user_id, user), ne(ceremonies.session_id, session), where)),
    db.delete(oauth_flows).where(and(eq(oauth_flows.user_id, user), ne(oauth_flows.session_id, session), where)),
    db.delete(auth_codes).where(and(eq(auth_codes.user_id, user), ne(auth_codes.session_id, session), where)),
    db.delete(factors).where(and(eq(factors.user_id, user), eq(factors.is_verified, false), where)),
  ] as const;
