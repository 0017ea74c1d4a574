import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./schema.ts";

/** Relations between people, and the links, requests and invitations that lead to them. */

/** Tokens of personal links. A renewed link is another token. */
export const personal_links = sqliteTable("personal_links", {
  user_id: text("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  token: text("token").notNull().unique(),
});

/**
 * Invitations, one for each person: a new one replaces the former. `uses` counts the people it connected
 * (contract/names/invitation.ts).
 */
export const invitations = sqliteTable(
  "invitations",
  {
    user_id: text("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    token: text("token").notNull().unique(),
    expires_at: integer("expires_at").notNull(),
    uses: integer("uses").notNull(),
  },
  (table) => [index("invitations_by_expiry").on(table.expires_at)],
);

/** Undirected pair of connected people (SPEC.md §3); `conversation_id` contains both ids in sorted order. */
export const connections = sqliteTable(
  "connections",
  {
    id: text("id").primaryKey(),
    user1_id: text("user1_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    user2_id: text("user2_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    conversation_id: text("conversation_id").notNull().unique(),
    request_id: text("request_id"),
    created_at: integer("created_at").notNull(),
  },
  (table) => [
    index("connections_by_user1").on(table.user1_id, table.id),
    index("connections_by_user2").on(table.user2_id, table.id),
    check("connections_pair", sql`${table.user1_id} <> ${table.user2_id}`),
  ],
);

/** At most one pending request between two people, in either direction. */
export const connection_requests = sqliteTable(
  "connection_requests",
  {
    id: text("id").primaryKey(),
    from_user_id: text("from_user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    to_user_id: text("to_user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    conversation_id: text("conversation_id").notNull(),
    status: text("status", { enum: ["pending", "accepted", "declined"] }).notNull(),
    /** Connection created by the acceptance; used to undo a half-completed one. */
    connection_id: text("connection_id"),
    created_at: integer("created_at").notNull(),
    updated_at: integer("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("connection_requests_pending").on(table.conversation_id).where(sql`status = 'pending'`),
    index("connection_requests_by_pair").on(table.conversation_id, table.updated_at),
    index("connection_requests_received").on(table.to_user_id, table.status, table.id),
    index("connection_requests_sent").on(table.from_user_id, table.status, table.id),
    check("connection_requests_pair", sql`${table.from_user_id} <> ${table.to_user_id}`),
  ],
);

/**
 * Invitations to groups, for the people who get them and for the limits. The group itself decides whether one can be
 * accepted. `void` ones are never shown: the person declined such an invitation recently. No foreign keys: the groups
 * hold the id of the invited person and have to be told when an account is deleted.
 */
export const group_invitations = sqliteTable(
  "group_invitations",
  {
    id: text("id").primaryKey(),
    group_id: text("group_id").notNull(),
    from_user_id: text("from_user_id").notNull(),
    to_user_id: text("to_user_id").notNull(),
    /** Whether the two were contacts: only strangers count as new people. */
    is_contact: integer("is_contact", { mode: "boolean" }).notNull(),
    status: text("status", { enum: ["pending", "accepted", "declined", "withdrawn", "void"] }).notNull(),
    created_at: integer("created_at").notNull(),
    updated_at: integer("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("group_invitations_pending").on(table.group_id, table.to_user_id).where(sql`status = 'pending'`),
    index("group_invitations_received").on(table.to_user_id, table.status, table.id),
    index("group_invitations_sent").on(table.from_user_id, table.id),
    index("group_invitations_by_time").on(table.created_at),
    index("group_invitations_expiring").on(table.created_at).where(sql`status = 'pending'`),
  ],
);

/**
 * Blocks, with the blocker's profile and its settings for the blocked person as they were at the start: what the blocked
 * person keeps seeing. `created_at` grows with each block of a person and serves as the list cursor.
 */
export const blocks = sqliteTable(
  "blocks",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    blocked_user_id: text("blocked_user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    avatar_url: text("avatar_url"),
    created_at: integer("created_at").notNull(),
    username: text("username").notNull(),
    phone: text("phone").notNull(),
    handle: text("handle"),
    verified_at: integer("verified_at"),
    picture_to: text("picture_to", { enum: ["everyone", "contacts", "nobody"] }).notNull(),
    phone_to: text("phone_to", { enum: ["contacts", "nobody"] }).notNull(),
    phone_in_groups: integer("phone_in_groups", { mode: "boolean" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.blocked_user_id] }),
    index("blocks_by_time").on(table.user_id, table.created_at),
    index("blocks_by_blocked").on(table.blocked_user_id),
    check("blocks_pair", sql`${table.user_id} <> ${table.blocked_user_id}`),
  ],
);

/**
 * Relation changes that a person's UserChannel has not confirmed: the relation of `user_id` to `other_id` changed.
 * Written in one batch with the change and deleted after the confirmation; `version` keeps a change that happens in
 * between.
 */
export const pending_relations = sqliteTable(
  "pending_relations",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** No foreign key: the deletion of this account must still be announced after it. */
    other_id: text("other_id").notNull(),
    version: integer("version").notNull().default(1),
    /** `user_id` blocked or unblocked `other_id`, and their conversation may not have been notified. */
    block_changed: integer("block_changed", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.other_id] }),
    index("pending_relations_by_other").on(table.other_id),
  ],
);
