import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { findableBy, groupAdders } from "#contract/settings.ts";

/**
 * The directory: everything that is searched or joined across people. Times are epoch milliseconds. Rows
 * never leave the Worker as they are; each feature's `toX` says what does.
 */

/** Who may sign in. Apart from `profiles`, so that no query for a person can pick up a password hash. */
export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  phone: text("phone").notNull().unique(),
  password_hash: text("password_hash").notNull(),
  created_at: integer("created_at").notNull(),
  updated_at: integer("updated_at").notNull(),
});

/** What others may see of a person. `number` only ties the row to the phone search's full-text index. */
export const profiles = sqliteTable("profiles", {
  number: integer("number").primaryKey(),
  id: text("id")
    .notNull()
    .unique()
    .references(() => users.id, { onDelete: "cascade" }),
  username: text("username").notNull(),
  phone: text("phone").notNull().unique(),
  avatar_url: text("avatar_url"),
  created_at: integer("created_at").notNull(),
});

/**
 * One sign-in of one device. Its refresh tokens are not stored: each is a MAC over (session, generation) with
 * the session's nonce, so the row says which generation is the live one. A revoked session is a deleted row.
 */
export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    nonce: text("nonce").notNull(),
    generation: integer("generation").notNull().default(0),
    /** When the live generation was made. */
    refreshed_at: integer("refreshed_at").notNull(),
    /** The newest generation whose access token was seen in use: its holder has the refresh token too. */
    seen_generation: integer("seen_generation").notNull().default(0),
    created_at: integer("created_at").notNull(),
    /** Browser and system, as they called themselves when it began. */
    device: text("device").notNull().default(""),
    /** How its person showed who they are, in the order they did (contract: GoTrue's `amr`), with a space between. */
    methods: text("methods").notNull().default("password"),
    /** It may do nothing but show a second step, and only for `awaitingMinutes`. */
    awaits: integer("awaits", { mode: "boolean" }).notNull().default(false),
    /** From where one that owes its second step began: a keyed hash, which says nothing by itself. Empty in any other. */
    network: text("network").notNull().default(""),
    /** When a factor was shown last, and the generation that began then: older tokens gain nothing by it. */
    proved_at: integer("proved_at").notNull().default(0),
    proved_generation: integer("proved_generation").notNull().default(0),
  },
  (table) => [index("sessions_by_user").on(table.user_id, table.created_at)],
);

/** SPEC.md §3: an undirected pair; `conversation_id` is its two people in sorted order, once. */
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

/** At most one pending request between two people, whichever way it goes. */
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
    /** The connection its acceptance made; what undoes a half-failed acceptance goes by it. */
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
 * Who does not let whom through. `avatar_url` is the blocker's picture when it began, which the other keeps seeing;
 * `created_at` is later for each block of a person, so that it is also a place in their list.
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
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.blocked_user_id] }),
    index("blocks_by_time").on(table.user_id, table.created_at),
    index("blocks_by_blocked").on(table.blocked_user_id),
    check("blocks_pair", sql`${table.user_id} <> ${table.blocked_user_id}`),
  ],
);

/**
 * What a person's channel has still to be told: `other_id`'s standing to `user_id` changed. Written with the
 * change in one batch, deleted once the channel confirmed; `version` keeps a change that came in between.
 */
export const pending_relations = sqliteTable(
  "pending_relations",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Without a reference: of an account that was deleted there is still to be told that it was. */
    other_id: text("other_id").notNull(),
    version: integer("version").notNull().default(1),
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.other_id] }),
    index("pending_relations_by_other").on(table.other_id),
  ],
);

/**
 * Whose words were passed on to which conversation, so that a deleted account's name is found there. Without a reference:
 * it is needed when the account is gone. `cleared`: the name was taken out once since then.
 */
export const forwards = sqliteTable(
  "forwards",
  {
    author_id: text("author_id").notNull(),
    conversation_id: text("conversation_id").notNull(),
    cleared: integer("cleared", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.author_id, table.conversation_id] })],
);

/**
 * How calls were, for whoever looks after the service. It says which call and which side, and not who: `place` is a name
 * that the conversation has in this call only, so that another call under the same id is another one.
 */
export const call_feedback = sqliteTable(
  "call_feedback",
  {
    call_id: text("call_id").notNull(),
    place: text("place").notNull(),
    side: text("side", { enum: ["caller", "callee"] }).notNull(),
    at: integer("at").notNull(),
    good: integer("good", { mode: "boolean" }).notNull(),
    reason: text("reason", { enum: ["sound", "picture", "dropped"] }),
    kind: text("kind", { enum: ["audio", "video"] }).notNull(),
    seconds: integer("seconds").notNull(),
  },
  (table) => [primaryKey({ columns: [table.call_id, table.place, table.side] })],
);

/** Accounts that are deleted and of which something may be left (worker/lib/deletion/deletion-steps.ts). */
export const deletions = sqliteTable("deletions", {
  user_id: text("user_id").primaryKey(),
  started_at: integer("started_at").notNull(),
});

/** Sessions of deleted accounts: a device that comes with one is told what became of it. They name nobody. */
export const deleted_sessions = sqliteTable(
  "deleted_sessions",
  {
    id: text("id").primaryKey(),
    deleted_at: integer("deleted_at").notNull(),
  },
  (table) => [index("deleted_sessions_by_time").on(table.deleted_at)],
);

/**
 * How people want things; no row of who never changed any. `version` counts the changes, `told_version` is the last one
 * that the person's channel confirmed.
 */
export const settings = sqliteTable("settings", {
  user_id: text("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  version: integer("version").notNull(),
  told_version: integer("told_version").notNull().default(0),
  receipts: integer("receipts", { mode: "boolean" }).notNull(),
  presence: integer("presence", { mode: "boolean" }).notNull(),
  hides_address: integer("hides_address", { mode: "boolean" }).notNull().default(false),
  findable: text("findable", { enum: findableBy }).notNull(),
  phone_in_groups: integer("phone_in_groups", { mode: "boolean" }).notNull().default(false),
  group_adds: text("group_adds", { enum: groupAdders }).notNull().default("contacts"),
  /** What messages, groups and calls each may do on a device, as JSON. */
  notices: text("notices").notNull(),
  tala: integer("tala", { mode: "boolean" }).notNull(),
});

/**
 * What a person searched for in the last day (worker/people/search-limit.ts): a keyed hash of the digits, which says nothing
 * by itself, and how many they were.
 */
export const phone_searches = sqliteTable(
  "phone_searches",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    hash: text("hash").notNull(),
    digits: integer("digits").notNull(),
    searched_at: integer("searched_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.hash] }),
    index("phone_searches_by_time").on(table.searched_at),
  ],
);

/** Proofs of work that were used, until they would have expired anyway. */
export const used_challenges = sqliteTable(
  "used_challenges",
  {
    signature: text("signature").primaryKey(),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("used_challenges_by_expiry").on(table.expires_at)],
);

/** Token buckets: a bucket is the time at which it will be full again. A full one needs no row. */
export const rate_limits = sqliteTable(
  "rate_limits",
  {
    key: text("key").primaryKey(),
    full_at: integer("full_at").notNull(),
  },
  (table) => [index("rate_limits_by_full_at").on(table.full_at)],
);
