import type { ConversationId } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

/** Sends messages of one conversation by HTTP. Rejects with a SyncError. */
export const postMessages = (
  platform: Platform,
  conversation: ConversationId,
  rows: readonly OutboxRow[],
): Promise<CommandResults["send"]> => {
  const messages = rows.map(({ cid, body, source }) => ({ cid, body, ...(source ? { source } : {}) }));
  return requestByHttp(platform, { type: "send", conversation, messages });
};

/** Sends messages with the body and source of the first by HTTP. Rejects with a SyncError. */
export const postMulticast = (
  platform: Platform,
  { body, source }: OutboxRow,
  rows: readonly OutboxRow[],
): Promise<CommandResults["multicast"]> => {
  const to = rows.map(({ conversation, cid }) => ({ conversation, cid }));
  return requestByHttp(platform, { type: "multicast", body, to, ...(source ? { source } : {}) });
};
