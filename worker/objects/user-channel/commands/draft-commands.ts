import { hasEnded } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { draftBurst, draftsPerDay, draftsUnwrittenMax } from "#contract/limits/messages.ts";
import { chooseDraft, type DraftList, isSameDraft } from "#contract/settings/drafts.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { StoredBucket } from "#worker/objects/shared/stored-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";

const secondsPerDay = 86_400;

type DraftCommandPorts = {
  inbox: Pick<InboxFeed, "find" | "drafts" | "pushDraft" | "isKnownChange">;
  meta: KeyValues;
};

/** Draft of each conversation that a person's devices share. */
export class DraftCommands {
  readonly #inbox: DraftCommandPorts["inbox"];
  readonly #changes: StoredBucket;

  constructor({ inbox, meta }: DraftCommandPorts) {
    this.#inbox = inbox;
    this.#changes = new StoredBucket(meta, "drafts", {
      burst: draftBurst,
      perSecond: draftsPerDay / secondsPerDay,
      unwrittenMax: draftsUnwrittenMax,
    });
  }

  /**
   * Stores a draft and sends it to the other devices, unless a newer one is stored. A repetition changes nothing.
   * `writer`: session of the device.
   */
  setDraft(
    { conversation, base, ago, text, reply }: CommandOf<"setDraft">,
    writer: Uuid | undefined = "",
  ): CommandResults["setDraft"] | Refusal {
    const { drafts } = this.#inbox;
    const row = this.#inbox.find(conversation);
    if (!row || hasEnded(row)) return { error: "conversation_not_found" };
    const stored = drafts.find(row.handle);
    const written = { base, at: Date.now() - ago, writer, text, ...(reply === undefined ? {} : { reply }) };
    if (isSameDraft(stored, written)) return { revision: stored?.change ?? 0 };
    const draft = chooseDraft(stored, written);
    if (!draft) return { revision: 0 };
    if (!this.#changes.take()) return { error: "rate_limited", retryAfterMs: this.#changes.waitMs() };
    return { revision: this.#inbox.pushDraft(row, draft) };
  }

  /** Drafts changed after a change; all that are not empty if the inbox does not know it. */
  list(since: number): DraftList {
    const { drafts } = this.#inbox;
    const isKnown = since > 0 && this.#inbox.isKnownChange(since);
    const changed = drafts.list(isKnown ? since : 0);
    return { head: drafts.head, drafts: isKnown ? changed : changed.filter(({ text }) => text !== "") };
  }
}
