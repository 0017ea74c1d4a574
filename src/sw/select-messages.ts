import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { PendingMessage } from "./unsent-messages.ts";

/** Message as the server receives it. */
export type SelectedMessage = { cid: Uuid; body: object; source?: unknown };

/**
 * Messages that the service worker may send, by conversation and in the order of writing. Those that the app sends in its
 * own way (to several people at once, after a file that is still uploading, in answer to a message that was unsent, or
 * once it knows the members) stay, and with them the later ones of their conversation. `held` are conversations of which
 * nothing may be sent.
 */
export const selectMessages = (
  rows: readonly PendingMessage[],
  held: ReadonlySet<ConversationId>,
): Map<ConversationId, SelectedMessage[]> => {
  const stopped = new Set<ConversationId>(held);
  const uploading = new Set<string>();
  const selected = new Map<ConversationId, SelectedMessage[]>();
  const inOrder = [...rows].sort((a, b) => a.order - b.order || (a.cid < b.cid ? -1 : 1));
  for (const { cid, conversation, body, state, source, multicastId, batch, sent, ...row } of inOrder) {
    const batchKey = `${batch} ${conversation}`;
    if (state === "awaiting" && batch) uploading.add(batchKey);
    if (state !== "queued" || sent) continue;
    const isLeftToApp =
      multicastId !== undefined || row.replyTo !== undefined || row.mayMention || uploading.has(batchKey);
    if (isLeftToApp) stopped.add(conversation);
    if (stopped.has(conversation)) continue;
    const message = { cid, body, ...(source === undefined ? {} : { source }) };
    selected.set(conversation, [...(selected.get(conversation) ?? []), message]);
  }
  return selected;
};
