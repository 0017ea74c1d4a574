import type { SecurityNotice } from "#contract/auth/security.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { Settings, VersionedSettings } from "#contract/settings.ts";
import type { ConversationNotice, MemberReadState } from "#worker/objects/rpc.ts";
import { GroupCommit } from "#worker/objects/shared/group-commit.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import {
  toAckFrame,
  toOwnReceiptsFrame,
  toPersonFrame,
  toRowFrame,
  toSettingsFrame,
} from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import {
  addMerge,
  type EntryUpdate,
  listPushes,
  type OwnMessage,
  toSecurityNoticePush,
  toUniformPush,
} from "./change-push.ts";
import { ChangeSequence } from "./change-sequence.ts";
import { readInboxChanges, toInboxRow } from "./changes-query.ts";
import { RelationTable } from "./contacts-table.ts";
import { freezePeerReads, type InboxEntry, isCountOutdated, mergeNotice, mergeReadState } from "./inbox-merge.ts";
import { InboxTable } from "./inbox-table.ts";
import { InflightCounts } from "./inflight-counts.ts";
import { SecurityNotices } from "./security-notices.ts";
import { SettingsCopy } from "./settings-copy.ts";
import { WriteBehind } from "./write-behind.ts";

/** A notice as it came: by itself, or in the answer to what this person's own sockets sent (`own`). */
type NoticeInput = { notice: ConversationNotice; ownMessages?: readonly OwnMessage[] };
/** Whether the row needs an exact count, and whether what it says of messages stands written. */
type NoticeResult = { needsRecount: boolean; isWritten: boolean };

/**
 * A person's inbox and whatever else their devices follow: each change is pushed to every socket under the next number
 * of the person's counter, and is written under it.
 */
export class InboxFeed {
  readonly #ctx: DurableObjectState;
  readonly #sockets: SocketRegistry;
  readonly #inbox: InboxTable;
  readonly #relations: RelationTable;
  readonly #settings: SettingsCopy;
  readonly #securityNotices: SecurityNotices;
  readonly #inflightCounts = new InflightCounts();
  readonly #commits = new GroupCommit<NoticeInput, NoticeResult>((batch) => this.#applyBatch(batch));
  readonly #sequence: ChangeSequence;
  readonly #writeBehind: WriteBehind;

  constructor(ctx: DurableObjectState, meta: KeyValues, sockets: SocketRegistry) {
    this.#ctx = ctx;
    this.#sockets = sockets;
    this.#inbox = new InboxTable(ctx.storage);
    this.#relations = new RelationTable(ctx.storage.sql, ctx.id.name ?? "");
    this.#settings = new SettingsCopy(meta);
    this.#securityNotices = new SecurityNotices(meta);
    const changed = Math.max(this.#settings.changed, this.#securityNotices.changed);
    this.#sequence = new ChangeSequence(ctx, meta, sockets, changed);
    this.#writeBehind = new WriteBehind(this.#inbox, this.#sequence, sockets);
  }

  get epoch(): string {
    return this.#sequence.epoch;
  }

  get counter(): number {
    return this.#sequence.value;
  }

  get settings(): Settings {
    return this.#settings.current;
  }

  find(conversation: ConversationId): InboxEntry | undefined {
    return this.#inbox.find(conversation);
  }

  findByHandle(handle: number): InboxEntry | undefined {
    return this.#inbox.findByHandle(handle);
  }

  /** What changed after a cursor, as a device of this session is to hear it. A cursor that this inbox never gave out means everything. */
  readChanges(since: number, session: Uuid | undefined, before = Number.MAX_SAFE_INTEGER) {
    this.flush();
    this.#sequence.writeStart();
    const counter = this.#sequence.value;
    const from = this.#sequence.isKnown(since) ? since : 0;
    const page =
      from === counter
        ? { rows: [], people: [], before: null }
        : readInboxChanges(this.#ctx.storage.sql, this.#relations, from, Math.min(before, counter + 1));
    const now = Date.now();
    const settings = this.#settings.findChangedSince(from);
    const notices = this.#securityNotices.listSince(from, session, now);
    return { epoch: this.epoch, counter, since: from, now, ...page, settings, notices };
  }

  /** Reads the tables, with what was held back in them. */
  read<T>(read: (sql: SqlStorage) => T): T {
    this.flush();
    return read(this.#ctx.storage.sql);
  }

  /**
   * Takes in what a conversation says: at once, or together with what else comes within `groupCommitMs` of the
   * last time. Messages are pushed before they are written, for until a notice is confirmed the conversation
   * counts it as not told; and what this person's own sockets sent (`own`) is acknowledged before it is written
   * here, for the log has it, and the conversation tells again what nobody confirmed. So is what others say in a
   * group while devices listen: its row is written once for all that comes within `markHoldMs`.
   */
  applyNotice(notice: ConversationNotice, ownMessages?: readonly OwnMessage[]): Promise<NoticeResult> {
    return this.#commits.add(ownMessages ? { notice, ownMessages } : { notice });
  }

  /** Asks a conversation where the person stands there, and takes in the answer. `kept` is what the row says from then on. */
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
        ...mergeReadState(before, readState, inflight),
        kept: (isSameLog ? isKeptListed : undefined) ?? before.kept,
      };
      if (readState.unread !== undefined) this.#inflightCounts.markOvertaken(conversation, inflight);
      return {
        entry: this.#applyEntry(before, merged),
        needsRecount: isCountOutdated(before, readState),
        readState,
      };
    } finally {
      this.#inflightCounts.end(conversation, inflight);
    }
  }

  /** False when there is no such row. */
  setMuted(conversation: ConversationId, muted: boolean): boolean {
    const before = this.#inbox.find(conversation);
    if (!before || before.gone || before.muted === muted) return before?.gone === false;
    const entry = { ...before, muted, changed: this.#sequence.next };
    this.#inbox.writeMuted(entry);
    this.#sequence.pushChanges([toUniformPush((counter, base) => toRowFrame(counter, toInboxRow(entry), base))]);
    return true;
  }

  /** Whether this person lets nothing of that one through. */
  isBlocked(user: Uuid): boolean {
    return this.#relations.isBlocked(user);
  }

  /** Takes in how people stand to this person. */
  updateRelations(relations: readonly Relation[]): void {
    const newRelations = relations.filter((relation) => !this.#relations.isKnown(relation));
    const first = this.#sequence.next;
    this.#sequence.pushChanges(
      newRelations.map((relation) => toUniformPush((counter, base) => toPersonFrame(counter, relation, base))),
    );
    this.#ctx.storage.transactionSync(() => {
      for (const [index, relation] of newRelations.entries()) this.#relations.write(relation, first + index);
    });
  }

  /** Takes in how this person wants things. */
  updateSettings(settings: VersionedSettings): void {
    if (!this.#settings.isNewer(settings)) return;
    this.#settings.write(settings, this.#sequence.next);
    this.#sequence.pushChanges([toUniformPush((counter, base) => toSettingsFrame(counter, settings, base))]);
  }

  /** Takes in what became of the person's account. */
  addSecurityNotice(notice: SecurityNotice): void {
    if (!this.#securityNotices.isNew(notice)) return;
    this.#securityNotices.write(notice, this.#sequence.next);
    this.#sequence.pushChanges([toSecurityNoticePush(notice)]);
  }

  /** The last of it is written: nothing comes in any more. */
  close(): void {
    this.flush();
    this.#inbox.close();
  }

  /** Writes what was held back. */
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

  /** Notices of one conversation in their order, told as one change wherever they are one. Returns the inexact ones. */
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
      // A row that is told as a whole, or a change to its messages: what comes beside it is told before or after it.
      if (update && (update.needsFullRow || update.revised || merge.needsFullRow)) {
        this.#pushUpdate(update);
        update = undefined;
      }
      update = addMerge(update, merge, ownMessages);
    }
    if (update) this.#pushUpdate(update);
    const isFromConversation = inputs.some(({ ownMessages }) => ownMessages === undefined);
    const canDefer = update?.entry.group && update.newMessages.length > 0;
    if (isFromConversation && update && !canDefer && this.#inbox.hasUnwrittenMessages(update.entry.handle))
      this.flush();
    return inexact;
  }

  /** Tells the sockets what changed in a row. A new row is written first, for its handle must never be another's. */
  #pushUpdate(update: EntryUpdate): void {
    const { entry, newMessages, ownMessages, needsFullRow } = update;
    const changes = listPushes(update);
    const stored = this.#inbox.find(entry.conversation);
    const row = {
      ...entry,
      changed: changes.length > 0 ? this.#sequence.value + changes.length : (stored?.changed ?? 0),
    };
    // Devices drop what they have of a conversation that is gone: what was stored there before is acknowledged first.
    const alreadyStored = ownMessages.filter(({ outgoing }) => !newMessages.some(({ cid }) => cid === outgoing.cid));
    if (entry.gone) this.#acknowledgeAgain(alreadyStored);
    if (needsFullRow) this.#inbox.write(row);
    this.#sequence.pushChanges(changes);
    if (!needsFullRow && (changes.length > 0 || entry.countedUpTo !== stored?.countedUpTo))
      this.#writeBehind.deferWrite(row);
    if (!entry.gone) this.#acknowledgeAgain(alreadyStored);
  }

  #applyEntry(before: InboxEntry, merged: InboxEntry): InboxEntry {
    const isListingChanged = merged.hidden !== before.hidden || merged.kept !== before.kept;
    const isReadStateChanged = merged.delivered !== before.delivered || merged.read !== before.read;
    const hasChanged = isListingChanged || isReadStateChanged || merged.unread !== before.unread;
    const entry = hasChanged ? { ...merged, changed: this.#sequence.next } : merged;
    if (isListingChanged) this.#inbox.write(entry);
    else if (hasChanged || merged.countedUpTo !== before.countedUpTo) this.#writeBehind.deferWrite(entry);
    if (hasChanged) {
      this.#sequence.pushChanges([
        toUniformPush((counter, base) =>
          isListingChanged ? toRowFrame(counter, toInboxRow(entry), base) : toOwnReceiptsFrame(counter, entry, base),
        ),
      ]);
    }
    return entry;
  }

  /** What was in the row before this call is acknowledged under the counter as it stands. */
  #acknowledgeAgain(ownMessages: readonly OwnMessage[]): void {
    for (const socket of new Set(ownMessages.map(({ outgoing }) => outgoing.source))) {
      const sent = ownMessages.filter(({ outgoing }) => outgoing.source === socket);
      if (socket?.state) this.#sockets.sendFrame(socket, toAckFrame(this.#sequence.value, sent, socket.state.base));
    }
  }
}
