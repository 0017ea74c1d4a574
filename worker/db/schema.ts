import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { numberMethods } from "#contract/auth/number.ts";
import { numberNotices } from "#contract/people.ts";
import { audiences, contactAudiences, findableBy, requestSenders } from "#contract/settings/settings.ts";

/**
 * Directory (D1): everything that is searched or joined across people. Times are epoch milliseconds. Rows never leave
 * the Worker directly; the `toX` functions of each feature build the responses.
 */

/** Credentials. Separate from `profiles`, so that no query for a person can return a password hash. */
export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  /** Number, or `createAbsentNumber` while the account holds none (worker/lib/absent-number.ts). */
  phone: text("phone").notNull().unique(),
  password_hash: text("password_hash").notNull(),
  created_at: integer("created_at").notNull(),
  updated_at: integer("updated_at").notNull(),
});

/** Public data of a person. `number` only links the row to the full-text index of the phone search. */
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
  /** Handle as typed, in lower case. Its skeleton in `handles` makes it unique. */
  handle: text("handle"),
  /** Time at which this person last proved that `phone` is theirs; null while it is only a claim. */
  verified_at: integer("verified_at"),
  /** Method of that proof; null for proofs before it was recorded, none of which is by vouching. */
  verified_by: text("verified_by", { enum: numberMethods }),
  /** Time at which somebody else first proved the number since then (docs/decisions/number-takeover.md). */
  contested_at: integer("contested_at"),
  /** Latest renewal among the sessions that have ended. Written by a trigger. */
  ended_session_at: integer("ended_session_at").notNull().default(0),
});

/**
 * Numbers that people gave at registration and have not verified, where numbers can be verified, and numbers that they
 * lost. Several people may give the same number; one of them at most holds it (`users.phone`).
 */
export const number_claims = sqliteTable(
  "number_claims",
  {
    user_id: text("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    phone: text("phone").notNull(),
    created_at: integer("created_at").notNull(),
    /** Somebody else has verified the number. It still signs in, for people who do not know their handle. */
    is_former: integer("is_former", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [index("number_claims_by_phone").on(table.phone, table.created_at)],
);

/** Changes of the number of a contact, `other_id`, that `user_id` has not confirmed yet. */
export const number_notices = sqliteTable(
  "number_notices",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    other_id: text("other_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: numberNotices }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.other_id] }),
    index("number_notices_by_other").on(table.other_id),
  ],
);

/**
 * Skeletons of all handles (contract/names/handles.ts). A former one stays reserved for some days, for the person who
 * had it; without a person, since an account deletion, for nobody.
 */
export const handles = sqliteTable(
  "handles",
  {
    skeleton: text("skeleton").primaryKey(),
    user_id: text("user_id").references(() => users.id, { onDelete: "set null" }),
    /** Null while it is somebody's handle. */
    released_at: integer("released_at"),
  },
  (table) => [
    index("handles_by_user").on(table.user_id),
    index("handles_released").on(table.released_at).where(sql`released_at IS NOT NULL`),
  ],
);

/**
 * One sign-in of one device. Refresh tokens are not stored: each is a MAC over (session, generation) with the session's
 * nonce, and the row holds the current generation. A revoked session is a deleted row.
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
    /** Creation time of the current generation. */
    refreshed_at: integer("refreshed_at").notNull(),
    /** Newest generation whose access token was used. Its holder has the refresh token too. */
    seen_generation: integer("seen_generation").notNull().default(0),
    created_at: integer("created_at").notNull(),
    /** Browser and system from the user agent at sign-in. */
    device: text("device").notNull().default(""),
    /** Authentication methods in the order they were shown (GoTrue's `amr`), separated by spaces. */
    methods: text("methods").notNull().default("password"),
    /** Pending session: it may only show a second factor, and only for `pendingSecondFactorMinutes`. */
    awaits: integer("awaits", { mode: "boolean" }).notNull().default(false),
    /** Keyed hash of the network in which a pending session started. Empty for full sessions. */
    network: text("network").notNull().default(""),
    /** Time of the last reauthentication and the generation it started. Older tokens do not benefit from it. */
    proved_at: integer("proved_at").notNull().default(0),
    proved_generation: integer("proved_generation").notNull().default(0),
  },
  (table) => [index("sessions_by_user").on(table.user_id, table.created_at)],
);

/**
 * Conversations to which an author's content was forwarded, used to anonymize it when the account is deleted. No
 * foreign key, because the row is needed after the deletion. `cleared`: anonymized once since then.
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
 * Ratings of calls, for the operator. They identify the call and the side, not the person. `place` is a pseudonym of
 * the conversation in this call, so that equal call ids of different conversations stay distinct.
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

/** Deleted accounts whose data is not completely removed (worker/lib/deletion/deletion-steps.ts). */
export const deletions = sqliteTable("deletions", {
  user_id: text("user_id").primaryKey(),
  started_at: integer("started_at").notNull(),
});

/**
 * Sessions that their person ended from elsewhere or with the account, so that their devices learn about it: only then
 * they delete what they hold. They do not identify the person.
 */
export const ended_sessions = sqliteTable(
  "ended_sessions",
  {
    id: text("id").primaryKey(),
    ended_at: integer("ended_at").notNull(),
    cause: text("cause", { enum: ["revoked", "account_deleted"] }).notNull(),
  },
  (table) => [index("ended_sessions_by_time").on(table.ended_at)],
);

/**
 * Settings of people who changed any. `version` counts the changes; `told_version` is the last one confirmed by the
 * UserChannel.
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
  group_adds: text("group_adds", { enum: contactAudiences }).notNull().default("contacts"),
  requests_from: text("requests_from", { enum: requestSenders }).notNull().default("everyone"),
  calls_from: text("calls_from", { enum: contactAudiences }).notNull().default("contacts"),
  picture_to: text("picture_to", { enum: audiences }).notNull().default("everyone"),
  phone_to: text("phone_to", { enum: contactAudiences }).notNull().default("contacts"),
  statuses_to: text("statuses_to", { enum: audiences }).notNull().default("everyone"),
  /** People excepted from settings, as JSON: lists of ids by the name of the setting (worker/lib/exceptions.ts). */
  exceptions: text("exceptions").notNull().default("{}"),
  /** Notification settings of messages, groups and calls, as JSON. */
  notices: text("notices").notNull(),
  tala: integer("tala", { mode: "boolean" }).notNull(),
});

/** Phone searches of the last day (worker/people/search-limit.ts): a keyed hash of the digits and their number. */
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

/** Used proof-of-work challenges, kept until they expire. */
export const used_challenges = sqliteTable(
  "used_challenges",
  {
    signature: text("signature").primaryKey(),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("used_challenges_by_expiry").on(table.expires_at)],
);

/** Token buckets, stored as the time at which each is full again. A full bucket needs no row. */
export const rate_limits = sqliteTable(
  "rate_limits",
  {
    key: text("key").primaryKey(),
    full_at: integer("full_at").notNull(),
  },
  (table) => [index("rate_limits_by_full_at").on(table.full_at)],
);
