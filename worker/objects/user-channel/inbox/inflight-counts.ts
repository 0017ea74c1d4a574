import { isToRead } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { Notice } from "#worker/objects/rpc.ts";
import type { Arrivals, Merge } from "./inbox-merge.ts";

/** Questions that conversations are asked, and what came of each meanwhile. */
export class Watches {
  readonly #all = new Map<ConversationId, Set<Arrivals>>();

  begin(conversation: ConversationId): Arrivals {
    const arrivals: Arrivals = { seqs: [], isOvertaken: false };
    this.#all.set(conversation, (this.#all.get(conversation) ?? new Set()).add(arrivals));
    return arrivals;
  }

  end(conversation: ConversationId, arrivals: Arrivals): void {
    const watches = this.#all.get(conversation);
    watches?.delete(arrivals);
    if (watches?.size === 0) this.#all.delete(conversation);
  }

  /** An exact count came to this one: it overtook the others. */
  counted(conversation: ConversationId, by: Arrivals): void {
    for (const other of this.#all.get(conversation) ?? []) other.isOvertaken ||= other !== by;
  }

  tell(notice: Notice, merge: Merge): void {
    for (const arrivals of this.#all.get(notice.conversation) ?? []) {
      arrivals.seqs.push(...merge.news.filter(isToRead).map(({ seq }) => seq));
      if (notice.unread !== undefined || (merge.isRowNew && merge.news.length === 0)) arrivals.isOvertaken = true;
    }
  }
}
