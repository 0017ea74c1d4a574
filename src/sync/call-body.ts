import type { CallBody } from "../../contract/calls";
import type { ConversationId, Uuid } from "../../contract/ids";
import type { Store } from "./store";

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
