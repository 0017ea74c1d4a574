import type { CallFeedback, CallKind } from "../../../contract/calls";
import type { ConversationId, Uuid } from "../../../contract/ids";
import { request } from "../../lib/api";

/** What a person thought of a call. Nothing hangs on it: what could not be sent is let go. */
export const sendFeedback = async (
  { id, ...call }: { id: Uuid; conversation: ConversationId; kind: CallKind; seconds: number },
  verdict: Pick<CallFeedback, "good" | "reason">,
): Promise<void> => {
  try {
    await request("PUT", `/api/calls/${id}/feedback`, { ...call, ...verdict } satisfies CallFeedback);
  } catch {
    // Without network the thanks hold all the same.
  }
};
