import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Store } from "#sync/store/database.ts";

const recentRows = 20; // it ended a moment ago

/** The line of a call among the last of its conversation. */
export const readCallBody = async (
  store: Store,
  conversation: ConversationId,
  call: Uuid,
): Promise<CallBody | undefined> => {
  const rows = await store.range(conversation, 0).reverse().limit(recentRows).toArray();
  for (const { body } of rows) if (body.type === "call" && body.id === call) return body;
  return undefined;
};
