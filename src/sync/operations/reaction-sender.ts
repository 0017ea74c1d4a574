import { isTombstone } from "#contract/messages/kinds.ts";
import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { withOwnReaction } from "#contract/wire/reactions.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type PendingReaction, toPendingReactionKey } from "#sync/store/pending/pending-reactions.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Position of the message that a reaction is for; undefined if it is gone. Rejects while it is unsent. */
const findSeq = async ({ store, unsent }: SyncContext, { conversation, target, epoch }: PendingReaction) => {
  const row = await store.conversations.get(conversation);
  if (row?.gone) return undefined;
  // The positions of a log that the server lost may be those of other messages now.
  if (typeof target === "number") return row && row.epoch !== epoch ? undefined : target;
  if (unsent.find("outbox", target)) throw new SyncError("unavailable");
  const messages = store.queryMessages(conversation, 0).reverse();
  return (await messages.filter(({ cid }) => cid === target).first())?.seq;
};

type SendReaction = (command: CommandOf<"react">) => Promise<CommandResults["react"]>;

/**
 * Sends pending reactions. After the confirmation the stored summary contains the reaction, unless it is as new as the
 * answer.
 */
export const createReactionSender = (
  context: SyncContext,
  sendReaction: SendReaction,
  onRefused: () => void,
): OperationSender<PendingReaction> => {
  const { strict } = context;
  const remove = (sent: PendingReaction, seq?: number, revision = 0): Promise<void> =>
    strict.transaction("rw", [strict.meta, strict.conversations, strict.messages], async () => {
      const key = toPendingReactionKey(sent.conversation, sent.target);
      const current = (await strict.meta.get(key))?.value as PendingReaction | undefined;
      if (current?.emoji === sent.emoji) await strict.meta.delete(key);
      const row = await strict.conversations.get(sent.conversation);
      const message = seq === undefined ? undefined : await strict.messages.get([sent.conversation, seq]);
      if (!row || !message || row.revision >= revision || isTombstone(message.body)) return;
      await strict.messages.put({ ...message, reactions: withOwnReaction(message.reactions, sent.emoji) });
    });
  return {
    async send(reaction) {
      const seq = await findSeq(context, reaction);
      if (seq === undefined) return remove(reaction);
      const { conversation, emoji } = reaction;
      const { revision } = await sendReaction({ type: "react", conversation, seq, emoji });
      await remove(reaction, seq, revision);
    },
    async handleRefusal(reaction, { code }) {
      await remove(reaction);
      if (code !== "message_not_found" && code !== "conversation_not_found") onRefused();
    },
  };
};
