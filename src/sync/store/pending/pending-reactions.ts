import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalStore, MetaRow } from "#sync/store/database.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";

const pendingReactionPrefix = "reaction:";

/**
 * Reaction of this person that the server has not confirmed; a later one to the same message replaces it. `emoji`: null
 * removes the reaction. `target`: seq of the message in the log `epoch`, or the client id of an own one that was
 * unsent.
 */
export type PendingReaction = {
  conversation: ConversationId;
  target: ReplyTarget;
  emoji: string | null;
  epoch: string;
};

/** Whether a `meta` key belongs to a pending reaction. */
export const isPendingReactionKey = (key: string): boolean => key.startsWith(pendingReactionPrefix);

export const toPendingReactionKey = (conversation: ConversationId, target: ReplyTarget): string =>
  `${pendingReactionPrefix}${conversation}:${target}`;

/** Pending reactions in all conversations, or in one. */
export const listPendingReactions = async ({ meta }: LocalStore, conversation?: ConversationId) => {
  const prefix = conversation === undefined ? pendingReactionPrefix : toPendingReactionKey(conversation, "");
  const rows: MetaRow[] = await meta.where("key").startsWith(prefix).toArray();
  return rows.map(({ value }) => value as PendingReaction);
};

/** Pending reaction to a message; undefined if there is none. */
export const findPendingReaction = (
  { seq, cid }: { seq?: number | undefined; cid?: Uuid | undefined },
  pending: readonly PendingReaction[],
): PendingReaction | undefined => pending.find(({ target }) => target === seq || target === cid);
