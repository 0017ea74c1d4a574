import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";

const Conversations = v.record(Uuid, v.array(ConversationId));

const storageKey = "shownSummaries";

/** Conversations that the summary on each device announces, by session. One value, written with each summary. */
export class ShownSummaries {
  readonly #meta: KeyValues;
  #conversations: v.InferOutput<typeof Conversations>;

  constructor(meta: KeyValues) {
    this.#meta = meta;
    const stored = meta.get(storageKey);
    this.#conversations = stored === undefined ? {} : v.parse(Conversations, JSON.parse(stored));
  }

  list(session: Uuid): readonly ConversationId[] {
    return this.#conversations[session] ?? [];
  }

  has(session: Uuid, conversation: ConversationId): boolean {
    return this.list(session).includes(conversation);
  }

  set(session: Uuid, conversations: readonly ConversationId[]): void {
    const { [session]: before = [], ...others } = this.#conversations;
    if (before.length === 0 && conversations.length === 0) return;
    this.#conversations = conversations.length === 0 ? others : { ...others, [session]: [...conversations] };
    if (Object.keys(this.#conversations).length === 0) this.#meta.delete(storageKey);
    else this.#meta.set(storageKey, JSON.stringify(this.#conversations));
  }

  delete(session: Uuid, conversation: ConversationId): void {
    if (this.has(session, conversation))
      this.set(
        session,
        this.list(session).filter((other) => other !== conversation),
      );
  }
}
