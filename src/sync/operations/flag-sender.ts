import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { conversationFlags, type Operation } from "#sync/unsent/operations.ts";
import { storeFlags } from "./store-flags.ts";

/** Sends pending flags. `onTooManyPinned` is called if the server has no room for another pinned conversation. */
export const createFlagSender = (
  context: SyncContext,
  onTooManyPinned: () => void,
): OperationSender<Operation<"conversationFlags">> => ({
  async send(pending) {
    const { conversation, marked, archived, pinned, known } = pending;
    const command = { type: "setConversationFlags", conversation, marked, archived, pinned, known } as const;
    const answer = await requestByHttp(context.platform, command);
    await commitUnsent(context, [conversationFlags.end(pending)]);
    await storeFlags(context, conversation, answer);
  },
  async handleRefusal(pending, { code }) {
    await commitUnsent(context, [conversationFlags.end(pending)]);
    await storeFlags(context, pending.conversation);
    if (code === "too_many_pinned") onTooManyPinned();
  },
});
