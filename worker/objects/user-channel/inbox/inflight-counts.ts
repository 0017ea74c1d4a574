import { countsAsUnread } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { ConversationNotice } from "#worker/objects/rpc.ts";
import type { InflightCount, NoticeMerge } from "./inbox-merge.ts";

/** Questions that conversations are asked, and what came of each meanwhile. */
export class InflightCounts {
  readonly #counts = new Map<ConversationId, Set<InflightCount>>();

  begin(conversation: ConversationId): InflightCount {
    const arrivals: InflightCount = { seqs: [], isOvertaken: false };
    this.#counts.set(conversation, (this.#counts.get(conversation) ?? new Set()).add(arrivals));
    return arrivals;
  }

  end(conversation: ConversationId, arrivals: InflightCount): void {
    const watches = this.#counts.get(conversation);
    watches?.delete(arrivals);
    if (watches?.size === 0) this.#counts.delete(conversation);
  }

  /** An exact count came to this one: it overtook the others. */
  markOvertaken(conversation: ConversationId, by: InflightCount): void {
    for (const other of this.#counts.get(conversation) ?? []) other.isOvertaken ||= other !== by;
  }

  recordNotice(notice: ConversationNotice, merge: NoticeMerge): void {
    for (const arrivals of this.#counts.get(notice.conversation) ?? []) {
      arrivals.seqs.push(...merge.newMessages.filter(countsAsUnread).map(({ seq }) => seq));
      if (notice.unread !== undefined || (merge.needsFullRow && merge.newMessages.length === 0))
        arrivals.isOvertaken = true;
    }
  }
}
