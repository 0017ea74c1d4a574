import type { ConversationId, Uuid } from "#contract/ids.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { OutboxRow } from "#sync/store/database.ts";

/** Sends messages of one conversation by HTTP. Resolves to the changes to apply; rejects with a SyncError. */
export const postMessages = async (
  platform: Platform,
  conversation: ConversationId,
  rows: readonly OutboxRow[],
): Promise<ServerChange[]> => {
  const messages = rows.map(({ cid, body, source }) => ({ cid, body, ...(source ? { source } : {}) }));
  const { epoch, sent } = await requestByHttp(platform, { type: "send", conversation, messages });
  return sent.map((place) => ({ type: "sent", conversation, epoch, ...place }));
};

type MulticastOutcome = {
  changes: ServerChange[];
  refused: { cid: Uuid; error: SyncError }[];
  /** Messages that the server neither stored nor refused. */
  unanswered: OutboxRow[];
};

/** Sends the messages of one multicast by HTTP. Rejects with a SyncError. */
export const postMulticast = async (platform: Platform, rows: readonly OutboxRow[]): Promise<MulticastOutcome> => {
  const body = rows[0]?.body as OutboxRow["body"];
  const source = rows[0]?.source;
  const to = rows.map(({ conversation, cid }) => ({ conversation, cid }));
  const answer = await requestByHttp(platform, { type: "spread", body, to, ...(source ? { source } : {}) });
  const answered = new Set([...answer.sent, ...answer.refused].map(({ cid }) => cid));
  return {
    changes: answer.sent.map((place) => ({ type: "sent", ...place })),
    refused: answer.refused.map(({ cid, error, retryAfterMs }) => ({ cid, error: new SyncError(error, retryAfterMs) })),
    unanswered: rows.filter(({ cid }) => !answered.has(cid)),
  };
};
