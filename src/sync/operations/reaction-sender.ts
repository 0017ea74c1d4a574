import { isTombstone } from "#contract/messages/kinds.ts";
import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { withOwnReaction } from "#contract/wire/reactions.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { type Operation, reactions } from "#sync/unsent/operations.ts";

type Reaction = Operation<"reaction">;

/** Position of the message that a reaction is for; undefined if it is gone. Rejects while it is unsent. */
const findSeq = async ({ store, unsent }: SyncContext, { conversation, target, epoch }: Reaction) => {
  const row = await store.conversations.get(conversation);
  if (row?.gone) return undefined;
  // The positions of a log that the server lost may be those of other messages now.
  if (typeof target === "number") return row && row.epoch !== epoch ? undefined : target;
  if (unsent.find("outbox", target)) throw new SyncError("unavailable");
  const messages = store.queryMessages(conversation, 0).reverse();
  return (await messages.filter(({ cid }) => cid === target).first())?.seq;
};

/** Stores a confirmed reaction in the summary of its message, unless that is as new as the answer. */
const storeReaction = ({ store }: SyncContext, { conversation, emoji }: Reaction, seq: number, revision: number) =>
  store.transaction("rw", [store.conversations, store.messages], async () => {
    const row = await store.conversations.get(conversation);
    const message = await store.messages.get([conversation, seq]);
    if (!row || !message || row.revision >= revision || isTombstone(message.body)) return;
    await store.messages.put({ ...message, reactions: withOwnReaction(message.reactions, emoji) });
  });

type SendReaction = (command: CommandOf<"react">) => Promise<CommandResults["react"]>;

/** Sends pending reactions. */
export const createReactionSender = (
  context: SyncContext,
  sendReaction: SendReaction,
  onRefused: () => void,
): OperationSender<Reaction> => ({
  async send(reaction) {
    const seq = await findSeq(context, reaction);
    if (seq !== undefined) {
      const { conversation, emoji } = reaction;
      const { revision } = await sendReaction({ type: "react", conversation, seq, emoji });
      await storeReaction(context, reaction, seq, revision);
    }
    await commitUnsent(context, [reactions.end(reaction)]);
  },
  async handleRefusal(reaction, { code }) {
    await commitUnsent(context, [reactions.end(reaction)]);
    if (code !== "message_not_found" && code !== "conversation_not_found") onRefused();
  },
});
