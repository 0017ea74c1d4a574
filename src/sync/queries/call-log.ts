import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { callEntryPrefix, type RecentCall } from "#sync/inbound/call-history.ts";
import type { LocalStore, MetaRow } from "#sync/store/database.ts";

const searchedRowCount = 20; // newest messages; the call ended a moment ago

/** Finds the call entry of a call among the newest messages of its conversation. */
export const findCallEntry = async (
  store: LocalStore,
  conversation: ConversationId,
  call: Uuid,
): Promise<CallBody | undefined> => {
  const rows = await store.queryMessages(conversation, 0).reverse().limit(searchedRowCount).toArray();
  for (const { body } of rows) if (body.type === "call" && body.id === call) return body;
  return undefined;
};

/** Recorded calls of all conversations, the newest first. */
export const listRecentCalls = async (store: LocalStore, max: number): Promise<RecentCall[]> => {
  const rows: MetaRow[] = await store.meta.where("key").startsWith(callEntryPrefix).toArray();
  return rows
    .map(({ value }) => value as RecentCall)
    .sort((a, b) => b.at - a.at)
    .slice(0, max);
};
