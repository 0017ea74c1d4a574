import type { ConversationId } from "../../contract/ids";
import { typingLastsMs, typingRepeatMs } from "../../contract/limits";
import { Observable } from "../lib/observable";
import type { Context } from "./context";
import type { Platform } from "./platform";
import { isMine } from "./rows";
import type { ConversationRow } from "./store";

/** The leader's ear: who types, until a message of theirs came or nothing was heard for a while. */
export class Typists {
  readonly #context: Context;
  readonly #tell: (conversation: ConversationId, isOn: boolean) => void;
  #heads = new Map<ConversationId, number>();
  #ends = new Map<ConversationId, () => void>();

  constructor(context: Context, tell: (conversation: ConversationId, isOn: boolean) => void) {
    this.#context = context;
    this.#tell = tell;
  }

  async heard(handle: number): Promise<void> {
    const { store, platform } = this.#context;
    const row = await store.conversations.where("handle").equals(handle).first();
    if (!row) return;
    // A message that is taken in while the rest is read ends it as well.
    this.#heads.set(row.id, row.head);
    if (row.peer && (await store.people.get(row.peer))?.blocked === 1) return this.#end(row.id);
    if (!this.#heads.has(row.id)) return;
    this.#ends.get(row.id)?.();
    this.#ends.set(
      row.id,
      platform.after(typingLastsMs, () => this.#end(row.id)),
    );
    this.#tell(row.id, true);
  }

  /** After a transaction: who has sent what they typed types no more. */
  notice(rows: readonly ConversationRow[]): void {
    for (const row of rows) {
      const head = this.#heads.get(row.id);
      if (head !== undefined && row.head > head && !isMine(row.id, this.#context.me, row)) this.#end(row.id);
    }
  }

  stop(): void {
    for (const id of [...this.#heads.keys()]) this.#end(id);
  }

  #end(id: ConversationId): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
    if (this.#heads.delete(id)) this.#tell(id, false);
  }
}

/** What one tab knows of typing, both ways. */
export class Typing {
  readonly #platform: Platform;
  readonly #say: (conversation: ConversationId) => void;
  readonly conversations = new Observable<ReadonlySet<ConversationId>>(new Set());
  #ends = new Map<ConversationId, () => void>();
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
  set(conversation: ConversationId, isOn: boolean): void {
    this.#ends.get(conversation)?.();
    this.#ends.delete(conversation);
    if (isOn)
      this.#ends.set(
        conversation,
        this.#platform.after(typingLastsMs, () => this.set(conversation, false)),
      );
    const before = this.conversations.get();
    if (before.has(conversation) === isOn) return;
    const after = new Set(before);
    if (isOn) after.add(conversation);
    else after.delete(conversation);
    this.conversations.set(after);
  }
}
