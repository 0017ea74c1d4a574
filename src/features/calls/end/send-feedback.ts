import type { CallRating } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";

/** Tells what a person thought of a call. Nothing hangs on it: what could not be sent is let go. */
export const sendCallFeedback = async (
  { id, conversation }: { id: Uuid; conversation: ConversationId },
  verdict: CallRating,
): Promise<void> => {
  try {
    await requestApi("PUT", `/api/calls/${id}/feedback`, { conversation, ...verdict });
  } catch {
    // Without network the thanks hold all the same.
  }
};
