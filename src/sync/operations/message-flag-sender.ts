import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { MessageFlags } from "#contract/settings/message-flags.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { isUnsupportedCommand, type OperationSender } from "#sync/platform/operation-runner.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import {
  type PendingMessageFlags,
  toPendingMessageFlagsKey,
  toStarsKey,
} from "#sync/store/pending/pending-message-flags.ts";
import { raiseHead, toLocalMessageRow } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { removeContent } from "./remove-content.ts";

/**
 * Sends pending flags of messages, and fetches the flags of conversations in which they have changed. `onRefused` is
 * called if the server has no room for another star, or for another message deleted for oneself.
 */
export const createMessageFlagSender = (
  context: SyncContext,
  onRefused: (what: "star" | "deletion") => void,
): OperationSender<PendingMessageFlags> => {
  const { store, strict, platform, me } = context;
  const fetchFlags = async (conversation: ConversationId): Promise<MessageFlags> => {
    const path = `/api/conversations/${conversation}/message-flags`;
    const parsed = v.safeParse(MessageFlags, await platform.request({ method: "GET", path }));
    if (!parsed.success) throw new SyncError("unavailable");
    return parsed.output;
  };
  /** Ends the wait for a pending change, unless the person chose again. */
  const remove = async (pending: PendingMessageFlags): Promise<void> => {
    const key = toPendingMessageFlagsKey(pending.conversation, pending.seq);
    if (JSON.stringify((await strict.meta.get(key))?.value) === JSON.stringify(pending)) await strict.meta.delete(key);
  };
  const settle = async (pending: PendingMessageFlags, { revision, starred, deleted }: MessageFlags): Promise<void> => {
    await strict.transaction("rw", [strict.messages, ...strict.sendingTables], async () => {
      const { conversation } = pending;
      const row = await strict.conversations.get(conversation);
      if (row && !row.gone && starred.length > 0)
        await strict.meta.put({ key: toStarsKey(conversation), value: starred });
      else await strict.meta.delete(toStarsKey(conversation));
      await removeContent(context, conversation, deleted);
      if (pending.seq !== undefined) await remove(pending);
      // A later change was pushed meanwhile: it is fetched again.
      if (!row || revision === 0 || revision >= (row.flagsRevision ?? 0))
        await strict.meta.delete(toPendingMessageFlagsKey(conversation));
    });
    if (deleted.length > 0) void platform.deleteFirstViews();
  };
  /** Shows a message again that the server did not delete. Rejects with a SyncError. */
  const restore = async (conversation: ConversationId, seq: number): Promise<void> => {
    const request = { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 } as const;
    const page = await requestByHttp(platform, request).catch((error: unknown) => {
      if (isRetryableFailure(asSyncError(error))) throw error;
      return undefined; // this person left the conversation, which will be removed from this device
    });
    const message = page?.messages.find((one) => one.seq === seq);
    await strict.transaction("rw", [strict.messages, strict.conversations], async () => {
      const row = await strict.conversations.get(conversation);
      if (!row || !message || row.epoch !== page?.epoch || !(await strict.messages.get([conversation, seq]))) return;
      await strict.messages.put(toLocalMessageRow(row, me, message));
      raiseHead(row, message);
      await strict.conversations.put(row);
    });
  };
  return {
    async send(pending) {
      const { conversation, seq } = pending;
      try {
        if (seq !== undefined) {
          const { epoch, at: _, ...command } = pending;
          const row = await store.conversations.get(conversation);
          // The positions of a log that the server lost may be those of other messages now.
          if (!row || row.gone || row.epoch !== epoch) return await remove(pending);
          await requestByHttp(platform, { type: "setMessageFlags", ...command });
        }
        await settle(pending, await fetchFlags(conversation));
      } catch (error) {
        throw isUnsupportedCommand(asSyncError(error)) ? new SyncError("unavailable") : error;
      }
    },
    async handleRefusal(pending, { code }) {
      if (code === "too_many_deleted" && pending.seq !== undefined) await restore(pending.conversation, pending.seq);
      await strict.transaction("rw", [strict.meta], () => remove(pending));
      if (code === "too_many_starred") onRefused("star");
      if (code === "too_many_deleted") onRefused("deletion");
    },
  };
};
