import type { Message } from "../../contract/conversations";
import type { ConversationId } from "../../contract/ids";
import type { Change } from "./apply";
import type { Store } from "./store";

/** What is known here by the server's answer that one's own message is deleted; undefined when it is not held here. */
export const toRetracted = async (
  store: Store,
  conversation: ConversationId,
  seq: number,
  revision: number,
): Promise<Change | undefined> => {
  const held = await store.messages.get([conversation, seq]);
  if (!held) return undefined;
  const { sender, at, cid } = held;
  const message: Message = { seq, sender, at, body: { type: "deleted" }, ...(cid ? { cid } : {}) };
  return { type: "changed", of: conversation, since: revision - 1, revision, messages: [message] };
};
