import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sessions } from "./schema.ts";

/**
 * Session that receives the pushes of an endpoint, so that an endpoint serves one account. `endpoint_hash` is a keyed
 * hash; the endpoint itself is in the person's UserChannel. The row ends with the session.
 */
export const push_endpoints = sqliteTable("push_endpoints", {
  endpoint_hash: text("endpoint_hash").primaryKey(),
  session_id: text("session_id")
    .notNull()
    .unique()
    .references(() => sessions.id, { onDelete: "cascade" }),
});
