import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { users } from "./schema.ts";

/**
 * Statuses of Tala, which everybody reads: `number` is the place in the feed and is never given again. A picture's bytes
 * are found by the author and the id (worker/lib/storage/post-pictures.ts); here stands what a page says of it.
 */
export const tala_posts = sqliteTable(
  "tala_posts",
  {
    number: integer("number").primaryKey({ autoIncrement: true }),
    /** The phone's own. */
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

/** Statuses that their author took back: whatever of them is still on its way is not published any more. */
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
