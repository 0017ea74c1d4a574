import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { contactAudiences } from "#contract/settings/settings.ts";
import { users } from "./schema.ts";

/**
 * Statuses of Tala for everyone. `number` is the position in the feed and is never reused. The bytes of a
 * picture are found by author and id (worker/lib/storage/post-pictures.ts); the row holds its size and thumbnail.
 */
export const tala_posts = sqliteTable(
  "tala_posts",
  {
    number: integer("number").primaryKey({ autoIncrement: true }),
    /** Created by the posting device. */
    id: text("id").notNull().unique(),
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    content: text("content").notNull(),
    width: integer("width"),
    height: integer("height"),
    thumb: text("thumb"),
    created_at: integer("created_at").notNull(),
  },
  (table) => [index("tala_posts_by_user").on(table.user_id)],
);

/**
 * Statuses for fewer people than everyone, in a table of their own so that no query of the shared feed can return one.
 * `number` is a fraction above that of the newest status for everyone, so it leaves no gap in their numbers.
 */
export const tala_restricted_posts = sqliteTable(
  "tala_restricted_posts",
  {
    number: real("number").notNull(),
    /** Created by the posting device, and unique for its author only: nobody learns of the ids of others. */
    id: text("id").notNull(),
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    audience: text("audience", { enum: contactAudiences }).notNull(),
    content: text("content").notNull(),
    width: integer("width"),
    height: integer("height"),
    thumb: text("thumb"),
    created_at: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.user_id, table.number] }),
    uniqueIndex("tala_restricted_posts_by_id").on(table.user_id, table.id),
    index("tala_restricted_posts_by_number").on(table.number, table.user_id, table.audience),
  ],
);

/** Statuses deleted by their author. A status that arrives afterwards is not published. */
export const tala_gone = sqliteTable(
  "tala_gone",
  {
    user_id: text("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    id: text("id").notNull(),
    gone_at: integer("gone_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.id] }), index("tala_gone_by_time").on(table.gone_at)],
);
