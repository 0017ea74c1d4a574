import type { InboxRow } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment, getEditNumber, isAnonymized, type StoredBody } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";
import { deleteRecordedCalls, recordCalls } from "#sync/inbound/call-history.ts";
import { deleteMembers } from "#sync/inbound/data-purge.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { toStarsKey } from "#sync/store/message-flags.ts";
import {
  createConversationRow,
  isOwnMessage,
  raiseHead,
  resetConversationRow,
  skipCleared,
  toLocalMessageRow,
  updateMentions,
  withoutReactions,
} from "#sync/store/row-mapping.ts";
import { readSyncCursor, type SyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { updateListPositions } from "#sync/store/unsent-messages.ts";
import { deleteMessage, listUnsent } from "#sync/unsent/messages.ts";
import { unsentDeletions } from "#sync/unsent/operations.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import { storeReactions } from "./apply-reactions.ts";

/**
 * Thrown in a transaction that needs these changes of the unsent database to be committed before it: it is run again
 * then. Without them an end of the browser between the two could lose what the person wrote.
 */
export class UnsentChangesNeeded extends Error {
  constructor(readonly changes: readonly UnsentChange[]) {
    super("the unsent database has to be changed first");
  }
}

type RevisedChange = Extract<ServerChange, { type: "revised" }>;

/** Body of a message that was deleted here. That the group's owner had deleted it may become known only later. */
const mergeTombstones = ({ body: before }: LocalMessageRow, { body }: LocalMessageRow): StoredBody =>
  before.type === "deleted" && before.by === undefined && body.type === "deleted" ? body : before;

/**
 * Unit of work of one transaction that applies server changes. Conversation rows are read once, changed in memory and
 * written by `flush`; messages are written at once. Requires a transaction over all tables.
 */
export class ApplyTransaction {
  readonly touchedRows = new Map<ConversationId, LocalConversationRow>();
  /** Conversations whose stored messages were deleted because the server has a new log with another epoch. */
  readonly logResets: ConversationId[] = [];
  /** Conversations whose newest page has to be fetched, because it may contain a message that was deleted here. */
  readonly needsLogCheck: ConversationId[] = [];
  /** Client ids of own messages that were found in the log. They are not unsent any more. */
  readonly sentIds: Uuid[] = [];
  /** Changes of the unsent database to be made after the commit. */
  readonly unsentChanges: UnsentChange[] = [];
  /** Files whose messages were deleted. */
  readonly orphanedFiles: Uuid[] = [];
  /** Groups and people whose cached pictures are not shown anywhere any more. */
  readonly orphanedPictureOwners = new Set<Uuid>();
  /** Whether this person is no member of a group any more. */
  hasLeftGroups = false;
  /** Whether something that may have been shown was deleted or changed: messages, a history, the relation to a person. */
  hasReplacedContent = false;
  /**
   * Whether messages or deletions were queued again, own messages were deleted that may have edits, or flags of
   * messages or drafts have to be fetched.
   */
  hasPendingWork = false;

  #cursor: SyncCursor | undefined;

  constructor(
    readonly store: LocalStore,
    readonly unsent: Pick<UnsentStore, "list" | "find">,
    readonly me: Uuid,
    /** Device time at the start of the transaction, epoch milliseconds. */
    readonly startedAt: number,
  ) {}

  /** Cursor, read once per transaction. */
  async readCursor(): Promise<SyncCursor> {
    this.#cursor ??= await readSyncCursor(this.store);
    return this.#cursor;
  }

  async writeCursor(cursor: SyncCursor): Promise<void> {
    this.#cursor = cursor;
    await writeSyncCursor(this.store, cursor);
  }

  /** Row of a conversation, empty if none is stored. Changes to it are written by `flush`. */
  async loadRow(id: ConversationId): Promise<LocalConversationRow> {
    const row =
      this.touchedRows.get(id) ?? (await this.store.conversations.get(id)) ?? createConversationRow(id, this.me);
    this.touchedRows.set(id, row);
    return row;
  }

  /** Row by handle or id; undefined if this device has no row with this handle. */
  async findRow(target: number | ConversationId): Promise<LocalConversationRow | undefined> {
    if (typeof target === "string") return this.loadRow(target);
    for (const row of this.touchedRows.values()) if (row.handle === target) return row;
    const row = await this.store.conversations.where("handle").equals(target).first();
    return row && this.loadRow(row.id);
  }

  /** Deletes the stored messages and members of a recreated log and returns the reset row. */
  async resetLog(row: LocalConversationRow, epoch: string): Promise<LocalConversationRow> {
    this.hasReplacedContent = true;
    await this.store.queryMessages(row.id, 0).delete();
    await this.store.meta.delete(toStarsKey(row.id));
    await deleteRecordedCalls(this.store, row.id);
    if (row.group) await deleteMembers(this.store, row.id);
    const fresh = resetConversationRow(row, this.me, epoch);
    this.touchedRows.set(row.id, fresh);
    return fresh;
  }

  isOwnMessage(row: LocalConversationRow, message: Pick<Message, "sender"> & { cid?: Uuid | undefined }): boolean {
    return isOwnMessage(row, this.me, message);
  }

  /**
   * Stores received messages, except those of the cleared history. Updates head and unread count; own messages are not
   * unsent any more.
   */
  async addMessages(row: LocalConversationRow, received: readonly Message[]): Promise<void> {
    const messages = this.#blankPendingDeletions(received);
    const visible = messages.filter((message) => message.seq > row.hidden);
    const rows = visible.map((message) => toLocalMessageRow(row, this.me, message));
    // One that was stored before may have been changed or deleted here.
    if (row.revision > 0 || rows.some(({ seq }) => seq <= row.storedTo)) await this.#preserveNewerBodies(rows);
    row.unread += await this.#countNewUnread(row, rows);
    await this.store.messages.bulkPut(rows);
    await recordCalls(this.store, rows);
    updateMentions(row, rows);
    for (const message of rows) raiseHead(row, message);
    for (const { cid } of messages) if (cid !== undefined) this.settle(cid);
  }

  /** Deletes an own message from the outbox after the commit, because the log has it. */
  settle(cid: Uuid): void {
    this.sentIds.push(cid);
    if (this.unsent.find("outbox", cid)) this.unsentChanges.push(deleteMessage(cid));
  }

  /** Unsent messages of a conversation, without those that this transaction has found in the log. */
  listUnsent(conversation: ConversationId): OutboxRow[] {
    return listUnsent(this.unsent, conversation).filter(({ cid }) => !this.sentIds.includes(cid));
  }

  /**
   * Replaces messages by tombstones if they were deleted here while they were being sent. The deletion is sent to the
   * server as soon as it is reachable.
   */
  #blankPendingDeletions(messages: readonly Message[]): readonly Message[] {
    return messages.map((message) =>
      message.cid !== undefined &&
      unsentDeletions.find(this.unsent, { cid: message.cid }) &&
      message.body.type !== "deleted"
        ? { ...withoutReactions(message), body: { type: "deleted" } }
        : message,
    );
  }

  /** Applies the server's unread count up to `head` and adds the stored messages after it. */
  async applyUnreadCount(
    row: LocalConversationRow,
    { unread, head }: Pick<InboxRow, "unread" | "head">,
  ): Promise<void> {
    if (head < (row.unreadCountedUpTo ?? 0)) return; // a later count is stored
    const isUnread = (message: LocalMessageRow) => message.mine === 0 && countsAsUnread(message);
    const later =
      head < row.head ? this.store.queryMessages(row.id, Math.max(head, row.read, row.hidden) + 1) : undefined;
    row.unread = unread + ((await later?.filter(isUnread).count()) ?? 0);
    row.unreadCountedUpTo = head;
  }

  /** Number of unread messages that were not stored before and that the server's count does not include. */
  async #countNewUnread(row: LocalConversationRow, rows: readonly LocalMessageRow[]): Promise<number> {
    const from = Math.max(row.unreadCountedUpTo ?? row.head, row.read);
    const uncounted = rows.filter((message) => message.mine === 0 && message.seq > from && countsAsUnread(message));
    const early = uncounted.filter(({ seq }) => seq <= row.head);
    if (early.length === 0) return uncounted.length;
    const stored = await this.store.messages.bulkGet(early.map(({ seq }) => [row.id, seq]));
    return uncounted.length - stored.filter((message) => message !== undefined).length;
  }

  /**
   * Keeps the stored body of a message if it is newer than the received one, so that a late copy does not undo a
   * deletion, an edit or an anonymization. Collects the files of messages that become tombstones.
   */
  async #preserveNewerBodies(rows: LocalMessageRow[]): Promise<void> {
    const stored = await this.store.messages.bulkGet(rows.map(({ conversation, seq }) => [conversation, seq]));
    for (const [index, before] of stored.entries()) {
      const row = rows[index];
      if (!row || !before) continue;
      if (isTombstone(before.body)) rows[index] = { ...withoutReactions(row), body: mergeTombstones(before, row) };
      else if (isTombstone(row.body)) {
        this.collectOrphanedFile(before);
        this.hasPendingWork ||= before.mine === 1; // it may have an edit, whose words are kept
      } else if (isAnonymized(before.body) || getEditNumber(before.body) > getEditNumber(row.body))
        row.body = before.body;
      if (before.held) row.held = true;
    }
  }

  /** Collects the file of a deleted message, so that it is deleted as well. */
  collectOrphanedFile({ body }: Pick<LocalMessageRow, "body">): void {
    const file = findAttachment(body)?.file;
    if (file !== undefined) this.orphanedFiles.push(file);
  }

  /**
   * Applies changed messages that are stored, that are the newest one, or that are own ones after the stored range: a
   * late copy could otherwise bring their old body. All others are fetched later in their current form.
   */
  async applyRevisions(
    row: LocalConversationRow,
    { since, revision, messages, reactions = [] }: Pick<RevisedChange, "since" | "revision" | "messages" | "reactions">,
  ): Promise<void> {
    row.revision = Math.max(row.revision, revision);
    this.hasReplacedContent ||= messages.length > 0;
    updateMentions(row, messages);
    const stored = await this.store.messages.bulkGet(messages.map(({ seq }) => [row.id, seq]));
    const applicable = messages.filter(
      ({ seq, cid }, index) => stored[index] || seq === row.head || (cid !== undefined && seq > row.storedTo),
    );
    // Messages that have not arrived yet. `revised` stays behind, so that their changes are fetched later.
    const ahead = messages.filter((message) => message.seq > row.storedTo && !applicable.includes(message));
    for (const { seq } of ahead) row.head = Math.max(row.head, seq);
    const areReactionsStored = await storeReactions(this.store, row, reactions);
    if (ahead.length === 0 && areReactionsStored && row.revised >= since) row.revised = Math.max(row.revised, revision);
    await this.addMessages(row, applicable);
    await this.extendStoredRange(row);
  }

  /** Deletes the messages of the cleared history. They do not count as missing, so they are not fetched again. */
  async deleteCleared(row: LocalConversationRow): Promise<void> {
    this.hasReplacedContent = true;
    const cleared = this.store.queryMessages(row.id, 0, row.hidden);
    await cleared.each((message) => this.collectOrphanedFile(message));
    await cleared.delete();
    this.hasPendingWork = true; // edits of the cleared messages
    await deleteRecordedCalls(this.store, row.id, row.hidden);
    skipCleared(row);
  }

  /** Extends the stored range over the messages that follow it, including those that arrived out of order. */
  async extendStoredRange(row: LocalConversationRow): Promise<void> {
    while (row.storedTo < row.head) {
      const next = await this.store.messages.get([row.id, row.storedTo + 1]);
      if (!next) return;
      row.storedTo++;
      if (next.mine === 0) row.wantDelivered = Math.max(row.wantDelivered, row.storedTo);
    }
  }

  /** Whether a message deleted here may still arrive in the conversation. */
  hasPendingDeletion(id: ConversationId): boolean {
    return unsentDeletions.list(this.unsent).some(({ conversation }) => conversation === id);
  }

  /** Writes the touched rows with their positions in the list. */
  async flush(): Promise<void> {
    const rows = [...this.touchedRows.values()];
    if (rows.length === 0) return;
    // Missing messages will be fetched in their current form.
    for (const row of rows) if (row.storedFrom > row.storedTo) row.revised = row.revision;
    updateListPositions(this.unsent, rows);
    await this.store.conversations.bulkPut(rows);
  }
}
