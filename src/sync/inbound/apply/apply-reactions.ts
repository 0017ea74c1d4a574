import { isTombstone } from "#contract/messages/kinds.ts";
import type { ChangedReactions } from "#contract/wire/reactions.ts";
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";

/** Stores new reactions to stored messages. False if a message after the stored range has to be fetched with them. */
export const storeReactions = async (
  { messages }: LocalStore,
  { id, storedTo }: LocalConversationRow,
  reactions: readonly ChangedReactions[],
): Promise<boolean> => {
  const stored = await messages.bulkGet(reactions.map(({ seq }) => [id, seq]));
  const changed = stored.flatMap((message, index) =>
    message && !isTombstone(message.body) ? { ...message, reactions: reactions[index]?.summary ?? "" } : [],
  );
  await messages.bulkPut(changed);
  return reactions.every(({ seq }, index) => stored[index] || seq <= storedTo);
};
