import type { ConversationId, Uuid } from "#contract/ids.ts";
import { deletionSettleMs, fanOutAtOnce } from "#contract/limits.ts";
import { openDb } from "#worker/db/client.ts";
import { findDeletionStart } from "#worker/db/deletions.ts";
import { deleteForwards, listForwardConversations, markForwardsAnonymized } from "#worker/db/forwards.ts";

/**
 * Words of somebody whose account is gone, passed on by others to conversations that their own channel knows nothing of:
 * each takes the name out of its log.
 */

const pageRows = 60;
const pagesMax = 10; // in one pass

/** Those of these conversations that have done it. */
const anonymizeIn = async (
  env: Env,
  user: Uuid,
  conversations: readonly ConversationId[],
): Promise<ConversationId[]> => {
  const queue = [...conversations];
  const done: ConversationId[] = [];
  const work = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      try {
        await env.CONVERSATION.getByName(id).anonymizeForwards(id, user);
        done.push(id);
      } catch (error) {
        console.error("a name of a deleted account waits for the next try", error);
      }
    }
  };
  await Promise.all(Array.from({ length: fanOutAtOnce - 1 }, work));
  return done;
};

/**
 * True when nothing is left to do now. What was let in before the account was gone may be stored after the first look, so
 * that each conversation is looked at once more when nothing of the kind can come; only then is it forgotten.
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
