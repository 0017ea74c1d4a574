import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";

/** Own messages that are named by their client ids, because they had no seq when they were chosen. */

/** Number of newest messages searched for an own message. */
const recentMessageCount = 200;

/** Finds an own stored message by its client id among the newest messages on this device. */
export const findOwnMessage = async (
  { store }: { store: LocalStore },
  conversation: ConversationId,
  cid: Uuid | undefined,
) => {
  const newest = store.messages
    .where("[conversation+seq]")
    .between([conversation, 0], [conversation, Infinity])
    .reverse();
  return (await newest.limit(recentMessageCount).toArray()).find((message) => message.cid === cid);
};

/** Stored message that an edit names. */
export const findEditedMessage = (
  store: LocalStore,
  conversation: ConversationId,
  target: ReplyTarget | undefined,
): Promise<LocalMessageRow | undefined> =>
  typeof target === "number"
    ? store.messages.get([conversation, target])
    : findOwnMessage({ store }, conversation, target);
