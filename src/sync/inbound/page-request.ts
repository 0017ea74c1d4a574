import type { ConversationId } from "#contract/ids.ts";

/**
 * Request that a page answers: messages after or before `seq`, exclusive. `head` and `revised` are the row's values at
 * the time of the request.
 */
export type PageRequest = {
  conversation: ConversationId;
  direction: "after" | "before";
  seq: number;
  /** Sequence number whose message time the page returns as `anchor`, if other than `seq`. */
  held?: number;
  head: number;
  revised: number;
};
