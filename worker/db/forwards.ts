import { and, eq, gt, inArray, sql } from "drizzle-orm";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Db } from "./client.ts";
import { forwards, profiles } from "./schema.ts";
import { selectNameFor } from "./visible-profiles.ts";

/**
 * Conversations with forwarded content by its original author, used to anonymize it when the author's account is
 * deleted.
 */

export const findUsername = async (db: Db, user: Uuid): Promise<string | undefined> =>
  (await db.select({ name: profiles.username }).from(profiles).where(eq(profiles.id, user)).get())?.name;

/**
 * Records that content by this author is forwarded to a conversation. Returns the author's name as `forwarder` sees it,
 * or undefined if the account is deleted. Call it before the message is stored: an unnecessary row only costs a search in that
 * conversation.
 */
export const insertForward = async (
  db: Db,
  author: Uuid,
  conversation: ConversationId,
  forwarder: Uuid,
): Promise<string | undefined> => {
  const [[found]] = await db.batch([
    db
      .select({ name: selectNameFor(forwarder).as("name") })
      .from(profiles)
      .where(eq(profiles.id, author)),
    db
      .insert(forwards)
      .select(sql`SELECT id, ${conversation}, 0 FROM users WHERE id = ${author}`)
      .onConflictDoNothing(),
  ]);
  return found?.name;
};

/**
 * Conversations after the given one with content forwarded from this author. Skips those already anonymized, unless
 * `isAgain`.
 */
export const listForwardConversations = async (
  db: Db,
  author: Uuid,
  after: ConversationId,
  includesAnonymized: boolean,
  limit: number,
): Promise<ConversationId[]> => {
  const rows = await db
    .select({ conversation: forwards.conversation_id })
    .from(forwards)
    .where(
      and(
        eq(forwards.author_id, author),
        gt(forwards.conversation_id, after),
        includesAnonymized ? undefined : eq(forwards.cleared, false),
      ),
    )
    .orderBy(forwards.conversation_id)
    .limit(limit);
  return rows.map(({ conversation }) => conversation);
};

const isForwardIn = (author: Uuid, conversations: ConversationId[]) =>
  and(eq(forwards.author_id, author), inArray(forwards.conversation_id, conversations));

export const markForwardsAnonymized = async (db: Db, author: Uuid, conversations: ConversationId[]): Promise<void> => {
  await db.update(forwards).set({ cleared: true }).where(isForwardIn(author, conversations));
};

export const deleteForwards = async (db: Db, author: Uuid, conversations: ConversationId[]): Promise<void> => {
  await db.delete(forwards).where(isForwardIn(author, conversations));
};
