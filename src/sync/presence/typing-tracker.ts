import type { ConversationId } from "#contract/ids.ts";
import { typingLastsMs, typingRepeatMs } from "#contract/limits/messages.ts";
import type { SocketSession } from "#sync/connection/socket-session.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { isOwnMessage } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { type TypingMember, toTypingKey } from "./typing.ts";

/**
 * Typing as the leader exchanges it with the server: it tracks which members type, and reports that this person types.
 * Typing ends with the member's next message or after `typingLastsMs`.
 */
export class TypingTracker {
  readonly #context: SyncContext;
  readonly #session: Pick<SocketSession, "sendTyping">;
  readonly #onChange: (member: TypingMember, isOn: boolean) => void;
  #typing = new Map<string, { member: TypingMember; head: number }>();
  #expiryTimers = new Map<string, () => void>();
  /** Own typing that could not be sent because no socket was open, with its time. */
  #unsent: { id: ConversationId; at: number } | undefined;

  constructor(
    context: SyncContext,
    session: Pick<SocketSession, "sendTyping">,
    onChange: (member: TypingMember, isOn: boolean) => void,
  ) {
    this.#context = context;
    this.#session = session;
    this.#onChange = onChange;
  }

  async handleTyping(handle: number, number: number): Promise<void> {
    const { store, platform } = this.#context;
    const row = await store.conversations.where("handle").equals(handle).first();
    if (!row || row.gone) return;
    const member = { conversation: row.id, number };
    const key = toTypingKey(member);
    // Recorded before the next reads, so that a message applied meanwhile ends it.
    this.#typing.set(key, { member, head: row.head });
    const user = row.peer ?? (await store.members.get([row.id, number]))?.user;
    if (user && (await store.people.get(user))?.blocked === 1) return this.#end(key);
    if (!this.#typing.has(key)) return;
    this.#expiryTimers.get(key)?.();
    this.#expiryTimers.set(
      key,
      platform.startTimer(typingLastsMs, () => this.#end(key)),
    );
    this.#onChange(member, true);
  }

  /** Ends the typing of members whose message was just applied. */
  handleApplied(rows: readonly LocalConversationRow[]): void {
    for (const row of rows) {
      if (isOwnMessage(row, this.#context.me, row) && !row.gone) continue;
      for (const [key, { member, head }] of this.#typing) {
        const isTheirs = row.kind === "private" || row.sender === member.number;
        if (member.conversation === row.id && (row.gone || (row.head > head && isTheirs))) this.#end(key);
      }
    }
  }

  /** Sends that the person types. Without a socket it is kept for one that opens within `typingRepeatMs`. */
  async send(id: ConversationId, at = this.#context.platform.now()): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (row?.open && !this.#session.sendTyping(row.handle ?? id)) this.#unsent = { id, at };
  }

  /** Sends what no socket was open for, unless it is too old. */
  async sendUnsent(): Promise<void> {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent && this.#context.platform.now() - unsent.at < typingRepeatMs) await this.send(unsent.id, unsent.at);
  }

  discardUnsent(): void {
    this.#unsent = undefined;
  }

  stop(): void {
    for (const key of [...this.#typing.keys()]) this.#end(key);
  }

  #end(key: string): void {
    this.#expiryTimers.get(key)?.();
    this.#expiryTimers.delete(key);
    const entry = this.#typing.get(key);
    if (this.#typing.delete(key) && entry) this.#onChange(entry.member, false);
  }
}
