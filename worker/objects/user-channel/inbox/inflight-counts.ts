import type { ConversationId } from "#contract/ids.ts";
import { countsAsUnread } from "#contract/messages/message.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import type { InflightCount, NoticeMerge } from "./inbox-merge.ts";

/** Requests for unread counts that are in progress, with the messages that arrive before their answers. */
export class InflightCounts {
  readonly #counts = new Map<ConversationId, Set<InflightCount>>();

  begin(conversation: ConversationId): InflightCount {
    const inflight: InflightCount = { seqs: [], isOvertaken: false };
    this.#counts.set(conversation, (this.#counts.get(conversation) ?? new Set()).add(inflight));
    return inflight;
  }

  end(conversation: ConversationId, inflight: InflightCount): void {
    const counts = this.#counts.get(conversation);
    counts?.delete(inflight);
    if (counts?.size === 0) this.#counts.delete(conversation);
  }

  /** Marks all other requests of a conversation as overtaken, because an exact count has arrived. */
  markOvertaken(conversation: ConversationId, exact: InflightCount): void {
    for (const other of this.#counts.get(conversation) ?? []) other.isOvertaken ||= other !== exact;
  }

  recordNotice(notice: ConversationNotice, merge: NoticeMerge): void {
    for (const inflight of this.#counts.get(notice.conversation) ?? []) {
      inflight.seqs.push(...merge.newMessages.filter(countsAsUnread).map(({ seq }) => seq));
      if (notice.unread !== undefined || (merge.needsFullRow && merge.newMessages.length === 0))
        inflight.isOvertaken = true;
    }
  }
}
