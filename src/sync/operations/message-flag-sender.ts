import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { MessageFlags } from "#contract/settings/message-flags.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type MessageFlagTask, toOutdatedFlagsKey, toStarsKey } from "#sync/store/message-flags.ts";
import { raiseHead, toLocalMessageRow } from "#sync/store/row-mapping.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { isCaughtUp, readSyncCursor } from "#sync/store/sync-cursor.ts";
import { messageFlags } from "#sync/unsent/operations.ts";
import { fetchMessage } from "./fetch-message.ts";
import { removeContent } from "./remove-content.ts";

/**
 * Sends pending flags of messages, and fetches the flags of conversations in which they have changed. `onRefused` is
 * called if the server has no room for another star, or for another message deleted for oneself.
 */
export const createMessageFlagSender = (
  context: SyncContext,
  onRefused: (what: "star" | "deletion") => void,
): OperationSender<MessageFlagTask> => {
  const { store, platform, me } = context;
  const fetchFlags = async (conversation: ConversationId): Promise<MessageFlags> => {
    const path = `/api/conversations/${conversation}/message-flags`;
    const parsed = v.safeParse(MessageFlags, await platform.request({ method: "GET", path }));
    if (!parsed.success) throw new SyncError("unavailable");
    return parsed.output;
  };
  const storeFlags = async (conversation: ConversationId, { revision, starred, deleted }: MessageFlags) => {
    await store.transaction("rw", [store.messages, ...store.contentTables], async () => {
      const row = await store.conversations.get(conversation);
      if (row && !row.gone && starred.length > 0)
        await store.meta.put({ key: toStarsKey(conversation), value: starred });
      else await store.meta.delete(toStarsKey(conversation));
      await removeContent(context, conversation, deleted);
      // A later change was pushed meanwhile: it is fetched again.
      if (!row || revision === 0 || revision >= (row.flagsRevision ?? 0))
        await store.meta.delete(toOutdatedFlagsKey(conversation));
    });
    if (deleted.length > 0) void platform.deleteFirstViews();
  };
  /** Shows a message again that the server did not delete. Rejects with a SyncError. */
  const restore = async (conversation: ConversationId, seq: number): Promise<void> => {
    const fetched = await fetchMessage(platform, conversation, seq);
    await store.transaction("rw", [store.messages, store.conversations], async () => {
      const row = await store.conversations.get(conversation);
      if (!row || !fetched || row.epoch !== fetched.epoch || !(await store.messages.get([conversation, seq]))) return;
      await store.messages.put(toLocalMessageRow(row, me, fetched.message));
      raiseHead(row, fetched.message);
      await store.conversations.put(row);
    });
  };
  return {
    async send(task) {
      const { conversation } = task;
      if (task.kind) {
        const { seq, starred, deleted, epoch } = task;
        const row = await store.conversations.get(conversation);
        // After the loss of the cache the conversation has yet to arrive.
        if (!row && !isCaughtUp(await readSyncCursor(store))) throw new SyncError("unavailable");
        // The positions of a log that the server lost may be those of other messages now.
        if (!row || row.gone || row.epoch !== epoch) return commitUnsent(context, [messageFlags.end(task)]);
        await requestByHttp(platform, { type: "setMessageFlags", conversation, seq, starred, deleted });
      }
      await storeFlags(conversation, await fetchFlags(conversation));
      if (task.kind) await commitUnsent(context, [messageFlags.end(task)]);
    },
    async handleRefusal(task, { code }) {
      const { conversation } = task;
      if (task.kind) {
        if (code === "too_many_deleted") await restore(conversation, task.seq);
        await commitUnsent(context, [messageFlags.end(task)]);
      } else await store.meta.delete(toOutdatedFlagsKey(conversation));
      if (code === "too_many_starred") onRefused("star");
      if (code === "too_many_deleted") onRefused("deletion");
    },
  };
};
