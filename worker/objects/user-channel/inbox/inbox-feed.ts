import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { Settings, VersionedSettings } from "#contract/settings/settings.ts";
import { encodeServerFrame } from "#contract/wire/server-frames.ts";
import type { MemberReadState } from "#worker/objects/rpc/messages.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { GroupCommit } from "#worker/objects/shared/group-commit.ts";
import { toDraftFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import { AccountChanges } from "./account-changes.ts";
import { ChangeSequence, type ChangeSequencePorts } from "./change-sequence.ts";
import { addFlaggedRows, readInboxChanges } from "./changes-query.ts";
import { ConversationChoices } from "./choices/conversation-choices.ts";
import { endFlagsOfDeleted, endMark } from "./choices/conversation-flags.ts";
import { RelationTable } from "./contacts-table.ts";
import { DraftTable, type StoredDraft } from "./draft-table.ts";
import { freezePeerReads, type InboxEntry, isCountOutdated, mergeNotice, mergeReadState } from "./inbox-merge.ts";
import { InboxTable } from "./inbox-table.ts";
import { InflightCounts } from "./inflight-counts.ts";
import { addMerge, type EntryUpdate, type OwnMessage } from "./push-builders.ts";
import type { PushMark } from "./push-mark.ts";
import { type RowListeners, RowPublisher } from "./row-publisher.ts";
import { WriteBehind } from "./write-behind.ts";

type InboxListeners = RowListeners & {
  /** An unread count is in doubt. */
  onCountInDoubt(conversation: ConversationId): void;
  /** A conversation is not muted any more. */
  onUnmuted(entry: InboxEntry): void;
  /** All deferred rows are being written. */
  onFlush(): void;
};

/** A notice from a conversation, or from the answer to messages sent by this person's sockets (`ownMessages`). */
type NoticeInput = { notice: ConversationNotice; ownMessages?: readonly OwnMessage[] };
/** Whether the row needs an exact count, and whether its messages are written. */
type NoticeResult = { needsRecount: boolean; isWritten: boolean };

/**
 * A person's inbox and everything else their devices follow. Each change is pushed to all sockets under the next number
 * of the change counter and written under that number.
 */
export class InboxFeed {
  readonly #ctx: DurableObjectState;
  readonly #inbox: InboxTable;
  readonly #relations: RelationTable;
  readonly #account: AccountChanges;
  readonly #inflightCounts = new InflightCounts();
  readonly #commits = new GroupCommit<NoticeInput, NoticeResult>((batch) => this.#applyBatch(batch));
  readonly #sequence: ChangeSequence;
  readonly #writeBehind: WriteBehind;
  readonly #rows: RowPublisher;
  readonly #listeners: InboxListeners;

  readonly drafts: DraftTable;
  /** Flags of conversations and messages, and mutes. */
  readonly choices: ConversationChoices;

  constructor(ports: ChangeSequencePorts, listeners: InboxListeners) {
    const { ctx, meta, sockets } = ports;
    this.#listeners = listeners;
    this.#ctx = ctx;
    this.#inbox = new InboxTable(ctx.storage, () => listeners.onFlush());
    this.#relations = new RelationTable(ctx.storage.sql, ctx.id.name ?? "");
    this.#account = new AccountChanges(ctx.storage, meta, this.#relations);
    this.drafts = new DraftTable(ctx.storage.sql);
    const changed = Math.max(this.#account.changed, this.drafts.head);
    this.#sequence = new ChangeSequence(ports, changed);
    this.#writeBehind = new WriteBehind(this.#inbox, this.#sequence, sockets);
    this.choices = new ConversationChoices({
      sql: ctx.storage.sql,
      inbox: this.#inbox,
      sequence: this.#sequence,
      onUnmuted: (entry) => listeners.onUnmuted(entry),
    });
    this.#rows = new RowPublisher({
      inbox: this.#inbox,
      drafts: this.drafts,
      choices: this.choices,
      sequence: this.#sequence,
      writeBehind: this.#writeBehind,
      sockets,
      listeners,
    });
  }

  get epoch(): string {
    return this.#sequence.epoch;
  }

  get counter(): number {
    return this.#sequence.value;
  }

  get settings(): Settings {
    return this.#account.settings;
  }

  find(conversation: ConversationId): InboxEntry | undefined {
    return this.#inbox.find(conversation);
  }

  findByHandle(handle: number): InboxEntry | undefined {
    return this.#inbox.findByHandle(handle);
  }

  /** Changes after a cursor, for a device of this session. A cursor of another inbox returns everything. */
  readChanges(since: number, session: Uuid | undefined, before = Number.MAX_SAFE_INTEGER) {
    this.flush();
    this.#sequence.writeStart();
    const counter = this.#sequence.value;
    const from = this.#sequence.isKnown(since) ? since : 0;
    const page =
      from === counter
        ? { rows: [], people: [], before: null }
        : readInboxChanges(this.#ctx.storage.sql, this.#relations, from, Math.min(before, counter + 1));
    if (from === 0 && before > counter)
      addFlaggedRows(this.#ctx.storage.sql, this.#relations, this.#ctx.id.name ?? "", page);
    const now = Date.now();
    const account = this.#account.readSince(from, session, now);
    return { epoch: this.epoch, counter, since: from, now, ...page, ...account, draftHead: this.drafts.head };
  }

  /** Reads the tables after writing all deferred rows. */
  read<T>(read: (sql: SqlStorage) => T): T {
    this.flush();
    return read(this.#ctx.storage.sql);
  }

  /**
   * Applies a notice, at once or grouped with others that arrive within `groupCommitMs`. Messages are pushed before
   * they are written, since the conversation repeats an unconfirmed notice. Messages of this person's sockets
   * (`ownMessages`) are acknowledged before they are written, since the log has them. Group messages received while
   * devices are connected are written once for all that arrive within `receiptHoldMs`. Returns whether the row's
   * messages are written.
   */
  async applyNotice(notice: ConversationNotice, ownMessages?: readonly OwnMessage[]): Promise<boolean> {
    const input = ownMessages ? { notice, ownMessages } : { notice };
    const { needsRecount, isWritten } = await this.#commits.add(input);
    // A crash between two writes left a count in doubt.
    if (needsRecount) this.#listeners.onCountInDoubt(notice.conversation);
    return isWritten;
  }

  /**
   * Requests the read state from a conversation and merges the answer. `isKeptListed`: new value of the row's `kept`.
   */
  async applyReadState<T extends object>(
    conversation: ConversationId,
    ask: () => Promise<MemberReadState | T>,
    isReadState: (answer: MemberReadState | T) => answer is MemberReadState,
    isKeptListed?: boolean,
  ): Promise<{ entry: InboxEntry | undefined; needsRecount: boolean; readState: MemberReadState } | T> {
    const inflight = this.#inflightCounts.begin(conversation);
    try {
      const readState = await ask();
      if (!isReadState(readState)) return readState;
      const before = this.#inbox.find(conversation);
      if (!before) return { entry: before, needsRecount: false, readState };
      const isSameLog = readState.epoch === before.epoch && !before.gone;
      const merged = {
        ...endFlagsOfDeleted(
          endMark(mergeReadState(before, readState, inflight), before),
          isSameLog ? isKeptListed : undefined,
        ),
        kept: (isSameLog ? isKeptListed : undefined) ?? before.kept,
      };
      if (readState.unread !== undefined) this.#inflightCounts.markOvertaken(conversation, inflight);
      return {
        entry: this.#rows.publishReadState(before, merged),
        needsRecount: isCountOutdated(before, readState),
        readState,
      };
    } finally {
      this.#inflightCounts.end(conversation, inflight);
    }
  }

  /** Records what devices were notified of, together with everything else that is not written yet. */
  writePushMark(conversation: ConversationId, pushMark: PushMark): void {
    const entry = this.#inbox.find(conversation);
    if (entry) this.#writeBehind.deferWrite({ ...entry, pushMark });
  }

  /** Whether this person blocks that user. */
  /** Name of a person whom this person has or had contact with. */
  findName(user: Uuid): string | undefined {
    return this.#relations.findName(user);
  }

  isBlocked(user: Uuid): boolean {
    return this.#relations.isBlocked(user);
  }

  /** Stores and pushes changed relations. */
  updateRelations(relations: readonly Relation[]): void {
    this.#account.updateRelations(this.#sequence, relations);
  }

  /** Stores and pushes changed settings. */
  updateSettings(settings: VersionedSettings): void {
    this.#account.updateSettings(this.#sequence, settings);
  }

  /** Stores and pushes a security notice. Returns false if it is known. */
  addSecurityNotice(notice: SecurityNotice): boolean {
    return this.#account.addSecurityNotice(this.#sequence, notice);
  }

  /** Whether a change number belongs to this inbox. */
  isKnownChange(change: number): boolean {
    return this.#sequence.isKnown(change);
  }

  /** Stores and pushes the draft of a conversation. Returns the number of the change. */
  pushDraft({ handle }: Pick<InboxEntry, "handle">, draft: Omit<StoredDraft, "change">): number {
    const before = this.drafts.head;
    const changed = { ...draft, change: this.#sequence.next };
    this.drafts.write(handle, changed);
    this.#sequence.pushChanges([
      (_counter, { state }, base) => {
        const isOwn = draft.writer !== "" && state?.session === draft.writer;
        return { frame: encodeServerFrame(toDraftFrame(changed, { handle, before, isOwn }), base), messages: 0 };
      },
    ]);
    return changed.change;
  }

  /** Writes the last rows and stops all writes. */
  close(): void {
    this.flush();
    this.#inbox.close();
  }

  /** Writes all deferred rows. */
  flush(): void {
    this.#writeBehind.flush();
  }

  #applyBatch(batch: readonly NoticeInput[]): NoticeResult[] {
    const inexactInputs = new Set<NoticeInput>();
    for (const inputs of Map.groupBy(batch, ({ notice }) => notice.conversation).values()) {
      for (const input of this.#applyTogether(inputs)) inexactInputs.add(input);
    }
    const isWritten = ({ notice }: NoticeInput) =>
      !this.#inbox.hasUnwrittenMessages(this.#inbox.find(notice.conversation)?.handle ?? 0);
    return batch.map((input) => ({ needsRecount: inexactInputs.has(input), isWritten: isWritten(input) }));
  }

  /**
   * Applies notices of one conversation in order, pushed as one change where possible. Returns those that need a
   * recount.
   */
  #applyTogether(inputs: readonly NoticeInput[]): NoticeInput[] {
    const inexact: NoticeInput[] = [];
    let update: EntryUpdate | undefined;
    for (const input of inputs) {
      const { notice, ownMessages = [] } = input;
      const before = update?.entry ?? this.#inbox.find(notice.conversation);
      const visibleNotice = this.settings.receipts ? notice : freezePeerReads(before, notice);
      const merge = mergeNotice(before, before?.handle ?? this.#inbox.nextHandle, visibleNotice);
      this.#inflightCounts.recordNotice(notice, merge);
      if (merge.needsRecount) inexact.push(input);
      // A full row or a change to messages is pushed as a change of its own.
      if (update && (update.needsFullRow || update.revised || merge.needsFullRow)) {
        this.#rows.publishUpdate(update);
        update = undefined;
      }
      update = addMerge(update, merge, notice, ownMessages);
    }
    const isWriteHeld = update !== undefined && this.#rows.publishUpdate(update);
    const isFromConversation = inputs.some(({ ownMessages }) => ownMessages === undefined);
    const canDefer = isWriteHeld || (update?.entry.group && update.newMessages.length > 0);
    if (isFromConversation && update && !canDefer && this.#inbox.hasUnwrittenMessages(update.entry.handle))
      this.flush();
    return inexact;
  }
}
