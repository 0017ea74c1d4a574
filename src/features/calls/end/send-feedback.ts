import type { CallRating } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";

/** Sends a person's rating of a call. Failures are ignored. */
export const sendCallFeedback = async (
  { id, conversation }: { id: Uuid; conversation: ConversationId },
  rating: CallRating,
): Promise<void> => {
  try {
    await requestApi("PUT", `/api/calls/${id}/feedback`, { conversation, ...rating });
  } catch {
    // The person is thanked even if the rating could not be sent.
  }
};
