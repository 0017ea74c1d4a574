import type { ConversationId } from "#contract/ids.ts";

/** The question a page answers: messages after or before `seq`, exclusive. `head` and `revised` stood when it was asked. */
export type PageRequest = {
  conversation: ConversationId;
  direction: "after" | "before";
  seq: number;
  /** The place whose message's time the page tells, when that is not `seq`. */
  held?: number;
  head: number;
  revised: number;
};
