import type { ConversationId } from "#contract/ids.ts";
import type { Message } from "#contract/messages/message.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";

/**
 * Fetches a message as the server has it now, with the epoch of its log. Undefined if this person does not see it any
 * more. Rejects with a SyncError if the server cannot be reached.
 */
export const fetchMessage = async (
  platform: Platform,
  conversation: ConversationId,
  seq: number,
): Promise<{ message: Message; epoch: string } | undefined> => {
  const request = { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 } as const;
  const page = await requestByHttp(platform, request).catch((error: unknown) => {
    if (isRetryableFailure(asSyncError(error))) throw error;
    return undefined; // this person left the conversation, which will be removed from this device
  });
  const message = page?.messages.find((one) => one.seq === seq);
  return page && message && { message, epoch: page.epoch };
};
