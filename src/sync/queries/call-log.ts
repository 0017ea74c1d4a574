import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalStore } from "#sync/store/database.ts";

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
