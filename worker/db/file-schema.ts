import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MediaType } from "#contract/files.ts";
import { users } from "./schema.ts";

/** The files that people send each other: what is known of each, what names it, and how much somebody may still send. */

/**
 * Files on their way and those that messages name. `status` only goes forward: what is `removed` has its bytes
 * taken out of R2, and then no row. The row outlives its owner's account for as long as others' messages name it.
 */
export const files = sqliteTable(
  "files",
  {
    id: text("id").primaryKey(),
    owner_id: text("owner_id").notNull(),
    name: text("name").notNull(),
    announced_size: integer("announced_size").notNull(),
    /** As stored, with the metadata taken out. This and what follows is known when it is ready. */
    size: integer("size"),
    type: text("type").$type<MediaType>(),
    width: integer("width"),
    height: integer("height"),
    /** Where its bytes are in R2, decided once by the first who completes it. */
    key: text("key"),
    status: text("status", { enum: ["receiving", "ready", "removed"] }).notNull(),
    was_used: integer("was_used", { mode: "boolean" }).notNull().default(false),
    created_at: integer("created_at").notNull(),
  },
  (table) => [
    // Only what may have to go: the sweep never reads past the files that messages name.
    index("files_to_sweep").on(table.created_at).where(sql`was_used = 0 OR status = 'removed'`),
    index("files_by_owner").on(table.owner_id),
    index("files_receiving").on(table.owner_id).where(sql`status = 'receiving'`),
  ],
);

/** The messages that name a file. A file goes with the last of them. */
export const file_uses = sqliteTable(
  "file_uses",
  {
    file_id: text("file_id")
      .notNull()
      .references(() => files.id),
    conversation_id: text("conversation_id").notNull(),
    cid: text("cid").notNull(),
  },
  (table) => [primaryKey({ columns: [table.file_id, table.conversation_id, table.cid] })],
);

/** Bytes a person announced on a day (UTC). `granted` is the mark of the request that was counted last. */
export const upload_days = sqliteTable(
  "upload_days",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    day: integer("day").notNull(),
    bytes: integer("bytes").notNull(),
    granted: text("granted").notNull(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.day] }), index("upload_days_by_day").on(table.day)],
);

/** Bytes of a person's files that are not removed. Kept by triggers on `files` (migrations/0013_storage_use.sql). */
export const storage_use = sqliteTable("storage_use", {
  user_id: text("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  bytes: integer("bytes").notNull(),
});
