import type { InboxRow, Message } from "../../contract/conversations";
import type { ConversationId, Uuid } from "../../contract/ids";
import { blankRow, freshRow, isMine, mergeInboxRow, noteHead, placeInList, skipHidden, toMessageRow } from "./rows";
import type { ConversationRow, Store } from "./store";

/**
 * The conversations one transaction touches. Rows are read once, changed here and written back by `flush`;
 * messages are written at once. Only inside a transaction over all tables.
 */
export class Workspace {
  readonly touched = new Map<ConversationId, ConversationRow>();
  /** Conversations whose log turned out to be another one than the one held here. */
  readonly reset: ConversationId[] = [];
  /** Conversations of which the server knows less than this device: overtaken on the way, or restored from a copy. */
  readonly doubtful: ConversationId[] = [];
  /** Outbox messages that turned out to be in the log. */
  readonly stored: Uuid[] = [];

  constructor(
    readonly store: Store,
    readonly me: Uuid,
  ) {}

  async row(id: ConversationId): Promise<ConversationRow> {
    const row = this.touched.get(id) ?? (await this.store.conversations.get(id)) ?? blankRow(id, this.me);
    this.touched.set(id, row);
    return row;
  }

  /** The conversation of a handle, or undefined when the server has not told this device of it. */
  async rowOf(of: number | ConversationId): Promise<ConversationRow | undefined> {
    if (typeof of === "string") return this.row(of);
    for (const row of this.touched.values()) if (row.handle === of) return row;
    const row = await this.store.conversations.where("handle").equals(of).first();
    return row && this.row(row.id);
  }

  /** Forgets what is held of a recreated log. */
  async forget(row: ConversationRow, epoch: string): Promise<ConversationRow> {
    await this.store.range(row.id, 0).delete();
    const fresh = freshRow(row, this.me, epoch);
    this.touched.set(row.id, fresh);
    this.reset.push(row.id);
    return fresh;
  }

  isOwn(row: ConversationRow, message: Pick<Message, "sender"> & { cid?: Uuid | undefined }): boolean {
    return isMine(row.id, this.me, message);
  }

  async addMessages(row: ConversationRow, messages: readonly Message[]): Promise<void> {
    const unknown = messages.filter((message) => message.seq > row.hidden);
    const rows = unknown.map((message) => toMessageRow(row.id, this.me, message));
    await this.store.messages.bulkPut(rows);
    for (const [index, message] of unknown.entries()) noteHead(row, message, rows[index]?.mine === 1);
    const cids = messages.flatMap((message) => message.cid ?? []);
    if (cids.length > 0) {
      this.stored.push(...cids);
      await this.store.outbox.bulkDelete(cids);
    }
  }

  /** The held range grows over messages that are here already, those that arrived before their turn included. */
  async advance(row: ConversationRow): Promise<void> {
    while (row.hi < row.head) {
      const next = await this.store.messages.get([row.id, row.hi + 1]);
      if (!next) return;
      row.hi++;
      if (next.mine === 0) row.wantDelivered = Math.max(row.wantDelivered, row.hi);
    }
  }

  async addRow(inbox: InboxRow): Promise<void> {
    let row = await this.row(inbox.conversation);
    if (row.epoch !== "" && row.epoch !== inbox.epoch) row = await this.forget(row, inbox.epoch);
    if (inbox.head < row.head) this.doubtful.push(row.id);
    const hiddenBefore = row.hidden;
    mergeInboxRow(row, inbox);
    if (row.hidden > hiddenBefore) {
      await this.store.range(row.id, 0, row.hidden).delete();
      skipHidden(row);
    }
    await this.#takePreview(row, inbox);
  }

  /** A row that carries the one missing message whole saves asking for it. */
  async #takePreview(row: ConversationRow, { head, at, sender, preview, whole }: InboxRow): Promise<void> {
    if (!whole || !preview || head !== row.hi + 1) return;
    // A row does not say which of my devices wrote a message: while some are unsent here it may be one of them.
    const message = { seq: head, at, sender, body: preview };
    if (this.isOwn(row, message) && (await this.store.unsent(row.id).count()) > 0) return;
    if (!(await this.store.messages.get([row.id, head]))) await this.addMessages(row, [message]);
    await this.advance(row);
  }

  async flush(): Promise<void> {
    for (const row of this.touched.values()) {
      const newest = await this.store.unsent(row.id).last();
      placeInList(row, newest?.createdAt);
    }
    await this.store.conversations.bulkPut([...this.touched.values()]);
  }
}
