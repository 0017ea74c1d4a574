import type { ConversationId } from "#contract/ids.ts";
import { typingLastsMs, typingRepeatMs } from "#contract/limits/messages.ts";
import { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";

/** Member who is typing, by member number. */
export type TypingMember = { conversation: ConversationId; number: number };

export const toTypingKey = ({ conversation, number }: TypingMember): string => `${conversation} ${number}`;

/** Typing as one tab shows and reports it. */
export class TypingState {
  readonly #platform: Platform;
  readonly #send: (conversation: ConversationId) => void;
  /** Numbers of the typing members by conversation, in the order they started. */
  readonly members = new Observable<ReadonlyMap<ConversationId, readonly number[]>>(new Map());
  #expiryTimers = new Map<string, () => void>();
  #sentAt = new Map<ConversationId, number>();

  constructor(platform: Platform, send: (conversation: ConversationId) => void) {
    this.#platform = platform;
    this.#send = send;
  }

  /** Reports that the person types: at once, then at most every `typingRepeatMs`. */
  reportTyping(conversation: ConversationId): void {
    const now = this.#platform.now();
    if (now - (this.#sentAt.get(conversation) ?? Number.NEGATIVE_INFINITY) < typingRepeatMs) return;
    this.#sentAt.set(conversation, now);
    this.#send(conversation);
  }

  /** Makes the next keystroke report at once, because the message was sent. */
  resetThrottle(conversation: ConversationId): void {
    this.#sentAt.delete(conversation);
  }

  /** Applies an event of the leader. It expires by itself, since a crashed leader sends no end. */
  setTyping(member: TypingMember, isOn: boolean): void {
    const key = toTypingKey(member);
    this.#expiryTimers.get(key)?.();
    this.#expiryTimers.delete(key);
    if (isOn)
      this.#expiryTimers.set(
        key,
        this.#platform.startTimer(typingLastsMs, () => this.setTyping(member, false)),
      );
    const { conversation, number } = member;
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
