import type { ConversationId } from "#contract/ids.ts";
import { typingLastsMs, typingRepeatMs } from "#contract/limits.ts";
import { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { Context } from "#sync/store/context.ts";
import type { ConversationRow } from "#sync/store/database.ts";
import { isMine } from "#sync/store/row-mapping.ts";

/** A member who types, by number. */
export type Typist = { conversation: ConversationId; number: number };

const keyOf = ({ conversation, number }: Typist): string => `${conversation} ${number}`;

/** The leader's ear: who types, until a message of theirs came or nothing was heard for a while. */
export class Typists {
  readonly #context: Context;
  readonly #tell: (typist: Typist, isOn: boolean) => void;
  #heads = new Map<string, { typist: Typist; head: number }>();
  #ends = new Map<string, () => void>();

  constructor(context: Context, tell: (typist: Typist, isOn: boolean) => void) {
    this.#context = context;
    this.#tell = tell;
  }

  async heard(handle: number, number: number): Promise<void> {
    const { store, platform } = this.#context;
    const row = await store.conversations.where("handle").equals(handle).first();
    if (!row || row.gone) return;
    const typist = { conversation: row.id, number };
    const key = keyOf(typist);
    // A message that is taken in while the rest is read ends it as well.
    this.#heads.set(key, { typist, head: row.head });
    const user = row.peer ?? (await store.members.get([row.id, number]))?.user;
    if (user && (await store.people.get(user))?.blocked === 1) return this.#end(key);
    if (!this.#heads.has(key)) return;
    this.#ends.get(key)?.();
    this.#ends.set(
      key,
      platform.after(typingLastsMs, () => this.#end(key)),
    );
    this.#tell(typist, true);
  }

  /** After a transaction: who has sent what they typed types no more. */
  notice(rows: readonly ConversationRow[]): void {
    for (const row of rows) {
      if (isMine(row, this.#context.me, row) && !row.gone) continue;
      for (const [key, { typist, head }] of this.#heads) {
        const isTheirs = row.kind === "private" || row.sender === typist.number;
        if (typist.conversation === row.id && (row.gone || (row.head > head && isTheirs))) this.#end(key);
      }
    }
  }

  stop(): void {
    for (const key of [...this.#heads.keys()]) this.#end(key);
  }

  #end(key: string): void {
    this.#ends.get(key)?.();
    this.#ends.delete(key);
    const heard = this.#heads.get(key);
    if (this.#heads.delete(key) && heard) this.#tell(heard.typist, false);
  }
}

/** What one tab knows of typing, both ways. */
export class Typing {
  readonly #platform: Platform;
  readonly #say: (conversation: ConversationId) => void;
  /** Who types where, the first to begin before the others. */
  readonly typists = new Observable<ReadonlyMap<ConversationId, readonly number[]>>(new Map());
  #ends = new Map<string, () => void>();
  #said = new Map<ConversationId, number>();

  constructor(platform: Platform, say: (conversation: ConversationId) => void) {
    this.#platform = platform;
    this.#say = say;
  }

  /** The person types: told at once, and again every few seconds while it goes on. */
  say(conversation: ConversationId): void {
    const now = this.#platform.now();
    if (now - (this.#said.get(conversation) ?? Number.NEGATIVE_INFINITY) < typingRepeatMs) return;
    this.#said.set(conversation, now);
    this.#say(conversation);
  }

  /** What was typed is sent: the next key is told at once. */
  forget(conversation: ConversationId): void {
    this.#said.delete(conversation);
  }

  /** The leader's word. A leader that dies says nothing more, so it does not count for ever. */
  set(typist: Typist, isOn: boolean): void {
    const key = keyOf(typist);
    this.#ends.get(key)?.();
    this.#ends.delete(key);
    if (isOn)
      this.#ends.set(
        key,
        this.#platform.after(typingLastsMs, () => this.set(typist, false)),
      );
    const { conversation, number } = typist;
    const before = this.typists.get();
    const numbers = before.get(conversation) ?? [];
    if (numbers.includes(number) === isOn) return;
    const others = numbers.filter((one) => one !== number);
    const after = new Map(before);
    if (isOn) after.set(conversation, [...others, number]);
    else if (others.length > 0) after.set(conversation, others);
    else after.delete(conversation);
    this.typists.set(after);
  }
}
