import type { ConversationId, Uuid } from "#contract/ids.ts";
import { fanOutAtOnce } from "#contract/limits/delivery.ts";
import { deletionSettleMs } from "#contract/limits/people.ts";
import { openDb } from "#worker/db/client.ts";
import { findDeletionStart } from "#worker/db/deletions.ts";
import { deleteForwards, listForwardConversations, markForwardsAnonymized } from "#worker/db/forwards.ts";

/**
 * Anonymizes content of a deleted account that others forwarded to conversations which its own channel does not know.
 */

const pageRows = 60;
const pagesMax = 10; // in one run

/** Removes the author's name from these conversations; returns those that succeeded. */
const anonymizeIn = async (
  env: Env,
  user: Uuid,
  conversations: readonly ConversationId[],
): Promise<ConversationId[]> => {
  const queue = [...conversations];
  const done: ConversationId[] = [];
  const anonymizeNext = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      try {
        await env.CONVERSATION.getByName(id).anonymizeForwards(user);
        done.push(id);
      } catch (error) {
        console.error("a conversation could not be anonymized and is retried", error);
      }
    }
  };
  await Promise.all(Array.from({ length: fanOutAtOnce - 1 }, anonymizeNext));
  return done;
};

/**
 * Anonymizes all forwards; returns true when nothing is left to do now. A forward accepted before the deletion may be
 * stored after the first pass, so each conversation is visited again once that is no longer possible; only then is its
 * row deleted.
 */
export const anonymizeAllForwards = async (env: Env, user: Uuid): Promise<boolean> => {
  const db = openDb(env);
  const startedAt = await findDeletionStart(db, user);
  const isSettled = startedAt === undefined || startedAt + deletionSettleMs <= Date.now();
  let after: ConversationId = "";
  let hasFailed = false;
  for (let page = 0; page < pagesMax; page++) {
    const conversations = await listForwardConversations(db, user, after, isSettled, pageRows);
    const last = conversations.at(-1);
    if (last === undefined) return !hasFailed;
    after = last;
    const done = await anonymizeIn(env, user, conversations);
    if (done.length < conversations.length) hasFailed = true;
    if (done.length > 0) await (isSettled ? deleteForwards : markForwardsAnonymized)(db, user, done);
  }
  return false;
};
