import type { Db } from "../db/client";
import { call_feedback } from "../db/schema";

type Feedback = Omit<typeof call_feedback.$inferInsert, "at">;

/** Keeps what one side thought of a call; the last word counts. */
export const putFeedback = async (db: Db, { call_id, side, ...verdict }: Feedback): Promise<void> => {
  const row = { ...verdict, at: Date.now() };
  await db
    .insert(call_feedback)
    .values({ call_id, side, ...row })
    .onConflictDoUpdate({ target: [call_feedback.call_id, call_feedback.side], set: row });
};
