import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import type { StoredEntry } from "#lib/browser/push/background-outbox.ts";

/** Outbox row (`src/sync/store/database.ts`) as far as the service worker reads it. The server validates bodies. */
export const AppOutboxRow = v.object({
  cid: Uuid,
  conversation: ConversationId,
  order: v.number(),
  body: v.looseObject({ type: v.string() }),
  state: v.picklist(["queued", "awaiting", "failed"]),
  source: v.optional(v.unknown()),
  replyTo: v.optional(Uuid),
  mayMention: v.optional(v.boolean()),
  multicastId: v.optional(Uuid),
  batch: v.optional(Uuid),
});
export type AppOutboxRow = v.InferOutput<typeof AppOutboxRow>;

/** Message as the server receives it. `n`: its position in the worker's outbox, if it is a reply. */
export type SelectedMessage = { cid: Uuid; body: object; source?: unknown; n?: number };

/**
 * Messages that the service worker may send, by conversation and in the order of writing: the app's, then replies.
 * Those that the app sends in its own way (to several people at once, after a file that is still uploading, in answer
 * to a message that was unsent, or once it knows the members) stay, and with them the later ones of their conversation.
 * `held` are conversations of which nothing may be sent.
 */
export const selectMessages = (
  rows: readonly AppOutboxRow[],
  entries: readonly StoredEntry[],
  held: ReadonlySet<ConversationId>,
): Map<ConversationId, SelectedMessage[]> => {
  const known = new Set(entries.flatMap(({ entry }) => (entry.type === "sent" ? entry.cid : [])));
  const stopped = new Set<ConversationId>(held);
  const uploading = new Set<string>();
  const selected = new Map<ConversationId, SelectedMessage[]>();
  const select = (conversation: ConversationId, message: SelectedMessage) => {
    if (stopped.has(conversation)) return;
    selected.set(conversation, [...(selected.get(conversation) ?? []), message]);
  };
  for (const { cid, conversation, body, state, source, multicastId, batch, ...row } of [...rows].sort(
    (a, b) => a.order - b.order,
  )) {
    const batchKey = `${batch} ${conversation}`;
    if (state === "awaiting" && batch) uploading.add(batchKey);
    if (state !== "queued" || known.has(cid)) continue;
    const isLeftToApp =
      multicastId !== undefined || row.replyTo !== undefined || row.mayMention || uploading.has(batchKey);
    if (isLeftToApp) stopped.add(conversation);
    select(conversation, { cid, body, ...(source === undefined ? {} : { source }) });
    known.add(cid);
  }
  for (const { n, entry } of entries) {
    if (entry.type === "reply" && !known.has(entry.cid))
      select(entry.conversation, { cid: entry.cid, body: { type: "text", text: entry.text }, n });
  }
  return selected;
};
