import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MediaType } from "#contract/files.ts";
import { users } from "./schema.ts";

/** Files that people send each other: metadata, references by messages, and upload quotas. */

/**
 * Files being uploaded and files in messages. `status` only advances: the bytes of a `removed` file are deleted from
 * R2, and then its row. A row outlives its owner's account as long as other people's messages reference it.
 */
export const files = sqliteTable(
  "files",
  {
    id: text("id").primaryKey(),
    owner_id: text("owner_id").notNull(),
    name: text("name").notNull(),
    announced_size: integer("announced_size").notNull(),
    /** Size as stored, without metadata. This and the following columns are set when the file is ready. */
    size: integer("size"),
    type: text("type").$type<MediaType>(),
    width: integer("width"),
    height: integer("height"),
    /** Key of the bytes in R2, fixed by the first request that completes the file. */
    key: text("key"),
    status: text("status", { enum: ["receiving", "ready", "removed"] }).notNull(),
    was_used: integer("was_used", { mode: "boolean" }).notNull().default(false),
    created_at: integer("created_at").notNull(),
  },
  (table) => [
    // Partial index of deletable files, so that the purge never scans files referenced by messages.
    index("files_to_sweep").on(table.created_at).where(sql`was_used = 0 OR status = 'removed'`),
    index("files_by_owner").on(table.owner_id),
    index("files_receiving").on(table.owner_id).where(sql`status = 'receiving'`),
  ],
);

/** References from messages to files. A file is deleted with its last reference. */
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

/** Bytes that a person announced on a day (UTC). `granted` identifies the request that was counted last. */
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

/**
 * Bytes of a person's files that are not removed. Maintained by triggers on `files` (migrations/0000_directory.sql).
 */
export const storage_use = sqliteTable("storage_use", {
  user_id: text("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  bytes: integer("bytes").notNull(),
});
