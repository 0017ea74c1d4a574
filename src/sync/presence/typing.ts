import type { ConversationId } from "#contract/ids.ts";
import { typingLastsMs, typingRepeatMs } from "#contract/limits.ts";
import { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { isOwnMessage } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** A member who types, by number. */
export type TypingMember = { conversation: ConversationId; number: number };

const toTypingKey = ({ conversation, number }: TypingMember): string => `${conversation} ${number}`;

/** The leader's ear: who types, until a message of theirs came or nothing was heard for a while. */
export class TypingTracker {
  readonly #context: SyncContext;
  readonly #onChange: (typist: TypingMember, isOn: boolean) => void;
  #typing = new Map<string, { typist: TypingMember; head: number }>();
  #expiryTimers = new Map<string, () => void>();

  constructor(context: SyncContext, tell: (typist: TypingMember, isOn: boolean) => void) {
    this.#context = context;
    this.#onChange = tell;
  }

  async handleTyping(handle: number, number: number): Promise<void> {
    const { store, platform } = this.#context;
    const row = await store.conversations.where("handle").equals(handle).first();
    if (!row || row.gone) return;
    const typist = { conversation: row.id, number };
    const key = toTypingKey(typist);
    // A message that is taken in while the rest is read ends it as well.
    this.#typing.set(key, { typist, head: row.head });
    const user = row.peer ?? (await store.members.get([row.id, number]))?.user;
    if (user && (await store.people.get(user))?.blocked === 1) return this.#end(key);
    if (!this.#typing.has(key)) return;
    this.#expiryTimers.get(key)?.();
    this.#expiryTimers.set(
      key,
      platform.startTimer(typingLastsMs, () => this.#end(key)),
    );
    this.#onChange(typist, true);
  }

  /** After a transaction: who has sent what they typed types no more. */
  handleApplied(rows: readonly LocalConversationRow[]): void {
    for (const row of rows) {
      if (isOwnMessage(row, this.#context.me, row) && !row.gone) continue;
      for (const [key, { typist, head }] of this.#typing) {
        const isTheirs = row.kind === "private" || row.sender === typist.number;
        if (typist.conversation === row.id && (row.gone || (row.head > head && isTheirs))) this.#end(key);
      }
    }
  }

  stop(): void {
    for (const key of [...this.#typing.keys()]) this.#end(key);
  }

  #end(key: string): void {
    this.#expiryTimers.get(key)?.();
    this.#expiryTimers.delete(key);
    const heard = this.#typing.get(key);
    if (this.#typing.delete(key) && heard) this.#onChange(heard.typist, false);
  }
}

/** What one tab knows of typing, both ways. */
export class TypingState {
  readonly #platform: Platform;
  readonly #send: (conversation: ConversationId) => void;
  /** Who types where, the first to begin before the others. */
  readonly members = new Observable<ReadonlyMap<ConversationId, readonly number[]>>(new Map());
  #expiryTimers = new Map<string, () => void>();
  #sentAt = new Map<ConversationId, number>();

  constructor(platform: Platform, say: (conversation: ConversationId) => void) {
    this.#platform = platform;
    this.#send = say;
  }

  /** The person types: told at once, and again every few seconds while it goes on. */
  reportTyping(conversation: ConversationId): void {
    const now = this.#platform.now();
    if (now - (this.#sentAt.get(conversation) ?? Number.NEGATIVE_INFINITY) < typingRepeatMs) return;
    this.#sentAt.set(conversation, now);
    this.#send(conversation);
  }

  /** What was typed is sent: the next key is told at once. */
  resetThrottle(conversation: ConversationId): void {
    this.#sentAt.delete(conversation);
  }

  /** The leader's word. A leader that dies says nothing more, so it does not count for ever. */
  setTyping(typist: TypingMember, isOn: boolean): void {
    const key = toTypingKey(typist);
    this.#expiryTimers.get(key)?.();
    this.#expiryTimers.delete(key);
    if (isOn)
      this.#expiryTimers.set(
        key,
        this.#platform.startTimer(typingLastsMs, () => this.setTyping(typist, false)),
      );
    const { conversation, number } = typist;
    const before = this.members.get();
    const numbers = before.get(conversation) ?? [];
    if (numbers.includes(number) === isOn) return;
    const others = numbers.filter((one) => one !== number);
    const after = new Map(before);
    if (isOn) after.set(conversation, [...others, number]);
    else if (others.length > 0) after.set(conversation, others);
    else after.delete(conversation);
    this.members.set(after);
  }
}
