import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalStore } from "#sync/store/database.ts";

const searchedRowCount = 20; // it ended a moment ago

/** The line of a call among the last of its conversation. */
export const findCallEntry = async (
  store: LocalStore,
  conversation: ConversationId,
  call: Uuid,
): Promise<CallBody | undefined> => {
  const rows = await store.queryMessages(conversation, 0).reverse().limit(searchedRowCount).toArray();
  for (const { body } of rows) if (body.type === "call" && body.id === call) return body;
  return undefined;
};
