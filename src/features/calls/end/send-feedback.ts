import type { CallVerdict } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { request } from "#lib/http/api.ts";

/** Tells what a person thought of a call. Nothing hangs on it: what could not be sent is let go. */
export const sendFeedback = async (
  { id, conversation }: { id: Uuid; conversation: ConversationId },
  verdict: CallVerdict,
): Promise<void> => {
  try {
    await request("PUT", `/api/calls/${id}/feedback`, { conversation, ...verdict });
  } catch {
    // Without network the thanks hold all the same.
  }
};
