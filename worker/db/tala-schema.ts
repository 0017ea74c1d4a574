import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { users } from "./schema.ts";

/**
 * Statuses of Tala, public to all users. `number` is the position in the feed and is never reused. The bytes of a
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
